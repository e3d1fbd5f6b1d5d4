internal import Foundation
internal import SystemPackage

/// An agent that keeps private keys, reached through a socket (draft-miller-ssh-agent).
struct SSHAgent: Sendable {
    private enum Message {
        static let requestIdentities: UInt8 = 11
        static let identities: UInt8 = 12
        static let signRequest: UInt8 = 13
        static let signature: UInt8 = 14
    }

    /// The maximum size of an answer in bytes.
    private static let limit = 1 << 18
    /// The time limit for an agent, which may ask the user.
    private static let timeout = timeval(tv_sec: 60, tv_usec: 0)

    private let socket: FilePath

    init(_ socket: FilePath) { self.socket = socket }

    /// Returns the agent's public keys in SSH's wire format.
    ///
    /// - Throws: `AgeError.agentFailed`.
    func keys() throws -> [[UInt8]] {
        var reader = SSHReader(
            try ask([Message.requestIdentities], expecting: Message.identities)
        )
        guard let count = reader.number() else { throw Self.failed("its answer is cut off") }
        var keys: [[UInt8]] = []
        for _ in 0..<count {
            guard let key = reader.string(), reader.string() != nil else {
                throw Self.failed("its answer is cut off")
            }
            keys.append(Array(key))
        }
        return keys
    }

    /// Signs bytes with an Ed25519 key of the agent.
    ///
    /// - Returns: the 64 bytes of the signature.
    /// - Throws: `AgeError.agentFailed`, also if the agent or its user refuses.
    func sign(_ bytes: [UInt8], with key: SSHPublicKey) throws -> [UInt8] {
        let request =
            [Message.signRequest] + SSHReader.string(key.wire) + SSHReader.string(bytes)
            + [0, 0, 0, 0]
        var reader = SSHReader(try ask(request, expecting: Message.signature))
        guard let whole = reader.string() else { throw Self.failed("its answer is cut off") }
        var inner = SSHReader(Array(whole))
        guard inner.readKind(), let signature = inner.string(), signature.count == 64 else {
            throw Self.failed("it signed with a key of another kind")
        }
        return Array(signature)
    }

    private static func failed(_ reason: String) -> AgeError { .agentFailed(reason: reason) }

    /// Sends a request, and returns the answer without its kind.
    private func ask(_ request: [UInt8], expecting kind: UInt8) throws -> [UInt8] {
        let descriptor = try connect()
        defer { close(descriptor) }
        var rest = SSHReader.string(request)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failed(Errno(rawValue: errno).description) }
            rest = rest.dropFirst(count)
        }
        var reader = SSHReader(try receive(4, from: descriptor))
        guard let length = reader.number(), length > 0, length <= Self.limit else {
            throw Self.failed("its answer has an impossible length")
        }
        let answer = try receive(length, from: descriptor)
        guard answer.first == kind else { throw Self.failed("it refused") }
        return Array(answer.dropFirst())
    }

    private func receive(_ count: Int, from descriptor: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: count)
        while bytes.count < count {
            let got = recv(descriptor, &part, count - bytes.count, 0)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else {
                throw Self.failed(got == 0 ? "it hung up" : Errno(rawValue: errno).description)
            }
            bytes += part.prefix(got)
        }
        return bytes
    }

    private func connect() throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = socket.string.utf8
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Self.failed("the path of its socket is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        #if canImport(Darwin)
        let descriptor = Darwin.socket(AF_UNIX, SOCK_STREAM, 0)
        #else
        let descriptor = Glibc.socket(
            AF_UNIX,
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        #endif
        guard descriptor >= 0 else { throw Self.failed(Errno(rawValue: errno).description) }
        var timeout = Self.timeout
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &timeout,
            socklen_t(MemoryLayout<timeval>.size)
        )
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #if canImport(Darwin)
                Darwin.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                #else
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                #endif
            }
        }
        guard result == 0 else {
            let error = Errno(rawValue: errno)
            close(descriptor)
            throw Self.failed("'\(socket)': \(error.description)")
        }
        return descriptor
    }
}
