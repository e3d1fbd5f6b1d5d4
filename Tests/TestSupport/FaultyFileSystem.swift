public import Files
internal import Synchronization
public import SystemPackage

/// The real file system, with one call that fails.
///
/// A test that plans a fault ends with `assertFaultWasMet()`: a fault that nothing ran into has
/// tested nothing.
public final class FaultyFileSystem: FileSystem {
    /// The verbs of the seam.
    public enum Verb: String, CaseIterable, Sendable {
        case createDirectory, move, swap, remove, write, sync, setMode
    }

    /// Which call fails; calls are counted from 1.
    public enum Fault: Sendable, Equatable {
        case call(Int)
        case callOf(Verb, Int)
    }

    /// What a fault does to the disk.
    public enum Effect: Sendable {
        /// The verb fails and changes nothing.
        case notDone
        /// The verb is done, and then fails: as when a run is killed right after it.
        case done
    }

    /// A call that came.
    public struct Call: Sendable, Equatable, CustomStringConvertible {
        public var verb: Verb
        public var path: FilePath

        public init(_ verb: Verb, _ path: FilePath) {
            self.verb = verb
            self.path = path
        }

        public var description: String { "\(verb.rawValue) \(path)" }
    }

    /// The planned fault was never met, and the calls that came instead.
    public struct FaultNotMet: Error, CustomStringConvertible {
        public var fault: Fault?
        public var calls: [Call]

        public var description: String {
            "the planned fault \(fault.map { "\($0)" } ?? "(none)") was not met by: \(calls)"
        }
    }

    private struct State {
        var calls: [Call] = []
        var wasMet = false
    }

    private let base = LocalFileSystem()
    private let fault: Fault?
    private let errno: Errno
    private let effect: Effect
    private let staysBroken: Bool
    private let isSwapSupported: Bool
    private let state = Mutex(State())

    /// Plans a fault, or none.
    ///
    /// - Parameters:
    ///   - fault: which call fails.
    ///   - errno: how it fails.
    ///   - effect: what it does to the disk.
    ///   - staysBroken: whether all calls after it fail too, doing nothing, so that nothing is
    ///     tidied up: what a killed run leaves behind.
    ///   - isSwapSupported: `false` makes `swap` return `false`, as on a file system without it.
    public init(
        failing fault: Fault? = nil,
        with errno: Errno = .ioError,
        effect: Effect = .notDone,
        staysBroken: Bool = false,
        isSwapSupported: Bool = true
    ) {
        self.fault = fault
        self.errno = errno
        self.effect = effect
        self.staysBroken = staysBroken
        self.isSwapSupported = isSwapSupported
    }

    /// All calls that came, in order, the failed ones too.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// How many calls of a verb came.
    public func count(_ verb: Verb) -> Int { calls.count { $0.verb == verb } }

    /// Whether the planned fault came about.
    public var faultWasMet: Bool { state.withLock { $0.wasMet } }

    /// Throws `FaultNotMet` where the planned fault never came about.
    public func assertFaultWasMet() throws {
        guard faultWasMet else { throw FaultNotMet(fault: fault, calls: calls) }
    }

    public func createDirectory(_ path: FilePath) throws {
        try perform(.createDirectory, path, .create) { try base.createDirectory(path) }
    }

    public func move(_ path: FilePath, to newPath: FilePath) throws {
        try perform(.move, path, .move) { try base.move(path, to: newPath) }
    }

    public func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        try perform(.swap, first, .exchange) {
            guard isSwapSupported else { return false }
            return try base.swap(first, second)
        }
    }

    public func remove(_ path: FilePath) throws {
        try perform(.remove, path, .remove) { try base.remove(path) }
    }

    public func write(_ bytes: [UInt8], to path: FilePath) throws {
        try perform(.write, path, .write) { try base.write(bytes, to: path) }
    }

    public func sync(_ path: FilePath) throws {
        try perform(.sync, path, .sync) { try base.sync(path) }
    }

    public func setMode(_ mode: UInt16, of path: FilePath) throws {
        try perform(.setMode, path, .setAttributes) { try base.setMode(mode, of: path) }
    }

    private enum Verdict {
        case real, fault, broken
    }

    private func perform<Result>(
        _ verb: Verb,
        _ path: FilePath,
        _ action: FileError.Action,
        _ body: () throws -> Result
    ) throws -> Result {
        switch note(verb, path) {
        case .real: return try body()
        case .fault:
            if case .done = effect { _ = try body() }
            throw FileError.failed(action, path, errno)
        case .broken: throw FileError.failed(action, path, errno)
        }
    }

    private func note(_ verb: Verb, _ path: FilePath) -> Verdict {
        state.withLock { state in
            state.calls.append(Call(verb, path))
            if state.wasMet { return staysBroken ? .broken : .real }
            switch fault {
            case .call(let number): state.wasMet = state.calls.count == number
            case .callOf(let failing, let number):
                let count = state.calls.count { $0.verb == verb }
                state.wasMet = failing == verb && count == number
            case nil: break
            }
            return state.wasMet ? .fault : .real
        }
    }
}
