import Archives
import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// Files that others write while they are read.
@Suite("A file that changes while it is read")
struct ChangingFileTests {
    /// Somebody who changes a file, a number of times.
    private final class Writer: Sendable {
        private let left: Mutex<Int>
        private let path: FilePath
        private let change: @Sendable (Int, UnsafeMutablePointer<FILE>) -> Void

        init(
            of path: FilePath,
            times: Int,
            _ change: @escaping @Sendable (Int, UnsafeMutablePointer<FILE>) -> Void
        ) {
            left = Mutex(times)
            (self.path, self.change) = (path, change)
        }

        func write() throws {
            let number = left.withLock { left in
                left -= 1
                return left
            }
            guard number >= 0, let file = fopen(path.string, "r+") else { return }
            defer { fclose(file) }
            change(number, file)
        }
    }

    private let scene: Scene
    private let before: [UInt8]

    init() throws {
        scene = try Scene()
        var random = Pseudorandom(seed: 2)
        before = random.bytes(3 * Segment.size + 100)
        try scene.sandbox.write(before, to: "Stores/app.log")
    }

    /// Backs up while the file is changed, and returns the problems and what the backup has of it.
    private func backUp(
        times: Int = .max,
        changing change: @escaping @Sendable (Int, UnsafeMutablePointer<FILE>) -> Void
    ) async throws -> (problems: [Problem.Kind], content: [UInt8]) {
        let writer = Writer(of: scene.stores.appending("app.log"), times: times, change)
        let outcome = try await scene.backUp(context: scene.context { try writer.write() })
        try await scene.restore { $0.makesSafetyBackup = false }
        return (outcome.problems.map(\.kind), try scene.sandbox.read("Stores/app.log"))
    }

    @Test("A file that only grows while it is read is saved up to its first size")
    func grows() async throws {
        let (problems, content) = try await backUp { _, file in
            fseek(file, 0, SEEK_END)
            fputs("a line of an application\n", file)
        }
        #expect(problems.isEmpty)
        #expect(content.starts(with: before))
    }

    @Test("A file that only gets other times while it is read is saved whole")
    func touched() async throws {
        let (problems, content) = try await backUp { number, file in
            fchmod(fileno(file), number % 2 == 0 ? 0o600 : 0o640)
        }
        #expect(problems.isEmpty)
        #expect(content == before)
    }

    @Test(
        "A backup reports a file that is written in place while it grows",
        arguments: [0, 3 * Segment.size]
    )
    func rewritten(at place: Int) async throws {
        let (problems, _) = try await backUp { number, file in
            fseek(file, place, SEEK_SET)
            fputc(Int32(truncatingIfNeeded: number & 0xFF), file)
            fseek(file, 0, SEEK_END)
            fputs("a line\n", file)
        }
        #expect(problems == [.neverStill])
    }

    @Test("A backup reports a file that is emptied and filled again, however long it becomes")
    func rotated() async throws {
        let before = before
        let (problems, _) = try await backUp { number, file in
            ftruncate(fileno(file), 0)
            let bytes = [UInt8](repeating: UInt8(number & 0xFF), count: before.count + 1)
            fwrite(bytes, 1, bytes.count, file)
        }
        #expect(problems == [.neverStill])
    }

    @Test(
        "A backup reports a file that gets shorter, unless a later read finds it unchanged",
        arguments: [1, .max]
    )
    func shrinks(times: Int) async throws {
        let (problems, content) = try await backUp(times: times) { _, file in
            var status = stat()
            fstat(fileno(file), &status)
            ftruncate(fileno(file), max(status.st_size - 4096, 2 * off_t(Segment.size)))
        }
        #expect(problems == (times == 1 ? [] : [.neverStill]))
        if times == 1 { #expect(before.starts(with: content)) }
    }
}
