internal import Foundation
internal import Synchronization

/// Stands between a client and a server on the loopback, and delays, cuts or refuses what goes through.
public final class TCPProxy: Sendable {
    /// What it does with a connection.
    public enum Mode: Sendable, Equatable {
        case pass
        /// Every part is held back for so long.
        case delay(Duration)
        /// The connection is cut once so many bytes of the client have gone through, and so is every other.
        case cut(after: Int)
        /// Connections are made, and nothing goes through.
        case hold
        /// Connections are ended at once.
        case refuse
        /// A request that begins so is answered with this status of HTTP's, and these words.
        case answer(to: String, with: String, body: String = "")
        /// From a request on that begins so nothing goes through.
        case holdFrom(String)
        /// A request that begins so goes through; its answer does not, and the connection is cut.
        case loseAnswer(to: String)
    }

    /// A moment in what a client says.
    public enum Moment: Sendable, Equatable, CustomStringConvertible {
        /// A request of HTTP's, by its number, has come, and has not gone through.
        case before(Int)
        /// It has gone through and was done; the answer has not.
        case after(Int)
        /// So many bytes have come.
        case sent(Int)

        public var description: String {
            switch self {
            case .before(let number): "request \(number)"
            case .after(let number): "the answer to request \(number)"
            case .sent(let count): "\(count) bytes"
            }
        }
    }

    private struct State {
        var mode = Mode.pass
        var sent = 0
        var requests: [String] = []
        var strike: (moment: Moment, body: @Sendable () -> Void)?
        /// The connections whose next answer is awaited.
        var awaited: Set<Int32> = []
        var connections: Set<Int32> = []
    }

    private let listener: Int32
    /// The port at which it listens.
    public let port: UInt16
    private let target: UInt16
    private let state = Mutex(State())

    /// Begins to listen.
    public init(to target: UInt16) throws {
        self.target = target
        let listener = socket(AF_INET, Self.stream, 0)
        self.listener = listener
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    close(client)
                    return
                }
                self.serve(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        for connection in state.withLock(\.connections) { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    /// What it does from now on, with connections that there are, too.
    public var mode: Mode {
        get { state.withLock(\.mode) }
        set {
            state.withLock {
                $0.mode = newValue
                $0.sent = 0
                $0.requests = []
                $0.strike = nil
                $0.awaited = []
            }
        }
    }

    /// Does something once at a moment, and lets nothing through from then on until a mode is set.
    public func strike(at moment: Moment, _ body: @escaping @Sendable () -> Void) {
        mode = .pass
        state.withLock { $0.strike = (moment, body) }
    }

    /// The first words of the requests of HTTP's that have come since the mode was set.
    public var requests: [String] { state.withLock(\.requests) }

    /// Whether no connection goes through it.
    public var isIdle: Bool { state.withLock(\.connections.isEmpty) }

    /// How many bytes of clients have gone through since the mode was set.
    public var sent: Int { state.withLock(\.sent) }

    private func serve(_ client: Int32) {
        if mode == .refuse {
            close(client)
            return
        }
        let server = socket(AF_INET, Self.stream, 0)
        var address = Self.address(target)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(client)
            close(server)
            return
        }
        state.withLock { $0.connections.formUnion([client, server]) }
        let ends = Ends(client, server) { [weak self] in
            self?.state.withLock { $0.connections.subtract([client, server]) }
        }
        for isClient in [true, false] {
            Thread.detachNewThread { [weak self] in
                let (from, to) = isClient ? (client, server) : (server, client)
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while true {
                    let count = read(from, &buffer, buffer.count)
                    guard count > 0, let self,
                        self.pass(buffer[..<count], from: from, to: to, isClient: isClient)
                    else { break }
                }
                ends.finish()
            }
        }
    }

    /// Returns whether to go on.
    private func pass(
        _ bytes: ArraySlice<UInt8>,
        from: Int32,
        to: Int32,
        isClient: Bool
    ) -> Bool {
        while mode == .hold { usleep(20_000) }
        if let strike = due(bytes, from: from, to: to, isClient: isClient) {
            strike()
            return false
        }
        let (mode, sent) = state.withLock { state in
            if isClient { state.sent += bytes.count }
            return (state.mode, state.sent)
        }
        switch mode {
        case .delay(let duration): usleep(UInt32(duration / .microseconds(1)))
        case .cut(let limit) where sent > limit: return false
        case .refuse: return false
        case .holdFrom(let request) where isClient && bytes.starts(with: request.utf8):
            self.mode = .hold
            while self.mode == .hold { usleep(20_000) }
            if self.mode == .refuse { return false }
        case .loseAnswer(let request) where isClient && bytes.starts(with: request.utf8):
            _ = write(Array(bytes), to: to)
            self.mode = .pass
            // The server has done it once it answers.
            var answer = pollfd(fd: to, events: Int16(POLLIN), revents: 0)
            _ = poll(&answer, 1, 10_000)
            return false
        case .answer(let request, let status, let body)
        where isClient && bytes.starts(with: request.utf8):
            let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)"
            let type = "Content-Type: application/xml\r\nConnection: close"
            _ = write(Array("\(head)\r\n\(type)\r\n\r\n\(body)".utf8), to: from)
            // What is left unread would reset the connection, and with it take the answer away.
            shutdown(from, Int32(SHUT_WR))
            var rest = [UInt8](repeating: 0, count: 1 << 16)
            while read(from, &rest, rest.count) > 0 {}
            return false
        default: break
        }
        return write(Array(bytes), to: to)
    }

    /// Returns what is to be done now that these bytes have come, if it is.
    private func due(
        _ bytes: ArraySlice<UInt8>,
        from: Int32,
        to: Int32,
        isClient: Bool
    ) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if isClient, let verb = bytes.prefix(12).split(separator: UInt8(ascii: " ")).first,
                Self.verbs.contains(String(decoding: verb, as: UTF8.self))
            {
                state.requests.append(String(decoding: verb, as: UTF8.self))
            }
            guard let (moment, body) = state.strike else { return nil }
            switch moment {
            case .before(let number) where isClient && state.requests.count == number: break
            case .after(let number) where isClient && state.requests.count == number:
                state.awaited.insert(to)
                return nil
            case .after where !isClient && state.awaited.contains(from): break
            case .sent(let count) where isClient && state.sent + bytes.count >= count: break
            default: return nil
            }
            state.strike = nil
            state.mode = .refuse
            return body
        }
    }

    private static let verbs: Set = [
        "GET", "HEAD", "PUT", "POST", "DELETE", "PROPFIND", "MKCOL", "MOVE", "COPY", "OPTIONS",
    ]

    private func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Self.noSignal)
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    #if canImport(Darwin)
    private static let stream = SOCK_STREAM
    private static let noSignal: Int32 = 0
    #else
    private static let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}

/// The two ends of a connection, closed when both directions have ended.
private final class Ends: Sendable {
    private let ends: [Int32]
    private let left = Mutex(2)
    private let done: @Sendable () -> Void

    init(_ first: Int32, _ second: Int32, done: @escaping @Sendable () -> Void) {
        ends = [first, second]
        self.done = done
    }

    func finish() {
        for end in ends { shutdown(end, Int32(SHUT_RDWR)) }
        let isLast = left.withLock {
            $0 -= 1
            return $0 == 0
        }
        guard isLast else { return }
        done()
        for end in ends { close(end) }
    }
}
