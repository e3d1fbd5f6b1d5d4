@testable internal import Age
internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("Signatures of OpenSSH")
struct SignatureTests {
    private static let hasTools = Tool.isInstalled("ssh-keygen")
    private static let message = Array("a manifest\n".utf8)

    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func keygen(_ arguments: String..., input: [UInt8] = []) throws -> Tool.Outcome {
        try Tool.run(
            "ssh-keygen",
            arguments,
            environment: ["HOME": sandbox.path.string],
            directory: sandbox.path,
            input: input
        )
    }

    private func sign(_ key: SigningKey, namespace: String = "file") throws -> SSHSignature {
        try key.sign(SSHMessage(of: Self.message), namespace: namespace)
    }

    @Test(
        "ssh-keygen accepts the signatures and the file of a new key",
        .enabled(if: hasTools, "ssh-keygen is not there")
    )
    func ours() throws {
        let key = SigningKey()
        let file = try #require(key.file(comment: "a comment"))
        let path = sandbox.path("key")
        try LocalFileSystem().write(Array(file.utf8), to: path, mode: 0o600)
        let shown = try keygen("-y", "-f", "key")
        #expect(shown.text.hasPrefix(key.publicKey.text), "\(shown.errors)")
        #expect(try keygen("-l", "-f", "key").text.contains(key.publicKey.fingerprint))
        #expect(try SigningKey(openSSH: file).publicKey == key.publicKey)
        try sandbox.write(sign(key).text, to: "sig")
        try sandbox.write("me \(key.publicKey.text)\n", to: "allowed")
        func verify(_ namespace: String, _ message: [UInt8] = Self.message) throws -> Int32 {
            try keygen(
                "-Y",
                "verify",
                "-f",
                "allowed",
                "-I",
                "me",
                "-n",
                namespace,
                "-s",
                "sig",
                input: message
            ).status
        }
        #expect(try verify("file") == 0)
        #expect(try verify("other") != 0)
        #expect(try verify("file", [1]) != 0)
    }

    @Test(
        "Signatures of ssh-keygen are valid with each of its hashes",
        .enabled(if: hasTools, "ssh-keygen is not there"),
        arguments: [SSHMessage.Algorithm.sha256, .sha512]
    )
    func theirs(algorithm: SSHMessage.Algorithm) throws {
        #expect(try keygen("-q", "-t", "ed25519", "-N", "", "-f", "key").status == 0)
        let signed = try keygen(
            "-Y",
            "sign",
            "-f",
            "key",
            "-n",
            "file",
            "-O",
            "hashalg=\(algorithm.rawValue)",
            input: Self.message
        )
        let signature = try SSHSignature(text: signed.output)
        #expect(signature.algorithm == algorithm)
        let line = String(decoding: try sandbox.read("key.pub"), as: UTF8.self)
        #expect(signature.key == SSHPublicKey(line: line))
        #expect(signature.isValid(for: SSHMessage(of: Self.message, algorithm), namespace: "file"))
        #expect(!signature.isValid(for: SSHMessage(of: Self.message, algorithm), namespace: "git"))
        let other: SSHMessage.Algorithm = algorithm == .sha256 ? .sha512 : .sha256
        #expect(!signature.isValid(for: SSHMessage(of: Self.message, other), namespace: "file"))
        #expect(!signature.isValid(for: SSHMessage(of: [1], algorithm), namespace: "file"))
        let key = try SigningKey(openSSH: String(decoding: sandbox.read("key"), as: UTF8.self))
        #expect(key.publicKey == signature.key)
    }

    @Test("A signature that is cut, longer, doubled, or of another kind is refused")
    func broken() throws {
        let text = try sign(SigningKey()).text
        #expect(throws: Never.self) { try SSHSignature(text: Array(text.utf8)) }
        let lines = text.split(separator: "\n").map(String.init)
        var wrong = [
            "", "x", lines[0], lines.dropLast().joined(separator: "\n"),
            lines.dropFirst().joined(separator: "\n"), text + text,
            [lines[0], lines[1], lines[lines.count - 1]].joined(separator: "\n"),
            text.replacingOccurrences(of: "U1NIU0lH", with: "U1NIU0lI"),
            [lines[0], String(repeating: "A", count: 6000), lines[lines.count - 1]]
                .joined(separator: "\n"),
        ]
        // Every four characters of the body are left out in turn; each is needed.
        let body = lines.dropFirst().dropLast().joined()
        for length in stride(from: 4, to: body.count, by: 4) {
            wrong.append(
                [lines[0], String(body.prefix(length)), lines[lines.count - 1]].joined(
                    separator: "\n"
                )
            )
        }
        for text in wrong {
            #expect(throws: AgeError.self, "\(text)") { try SSHSignature(text: Array(text.utf8)) }
        }
    }

    @Test("A signature with any byte changed is invalid")
    func flipped() throws {
        let key = SigningKey()
        let text = try sign(key).text
        let lines = text.split(separator: "\n").map(String.init)
        let body = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
        let message = SSHMessage(of: Self.message)
        for index in body.indices {
            var changed = body
            changed[index] ^= 1
            let text = [lines[0], changed.base64EncodedString(), lines[lines.count - 1], ""]
            let read = try? SSHSignature(text: Array(text.joined(separator: "\n").utf8))
            let holds = read.map {
                $0.key == key.publicKey && $0.isValid(for: message, namespace: "file")
            }
            // The reserved field is not compared, but it is part of what is signed: it is empty.
            #expect(holds != true, "byte \(index)")
        }
    }

    @Test(
        "An agent signs with a key that it has, and refuses others",
        .enabled(if: hasTools && Tool.isInstalled("ssh-agent"), "ssh-agent is not there")
    )
    func agent() throws {
        #expect(try keygen("-q", "-t", "ed25519", "-N", "", "-f", "key").status == 0)
        let socket = sandbox.path("agent")
        // The agent runs in the foreground, so that it cannot outlive the test.
        let agent = try RunningTool(
            "ssh-agent",
            ["-D", "-a", socket.string],
            environment: ["HOME": sandbox.path.string]
        )
        defer { agent.kill() }
        try #require(try agent.readLine() != nil)
        let added = try Tool.run(
            "ssh-add",
            ["-q", sandbox.path("key").string],
            environment: ["HOME": sandbox.path.string, "SSH_AUTH_SOCK": socket.string]
        )
        try #require(added.status == 0, "\(added.errors)")
        let line = String(decoding: try sandbox.read("key.pub"), as: UTF8.self)
        let publicKey = try #require(SSHPublicKey(line: line))
        let key = try SigningKey(publicKey, inAgentAt: socket)
        #expect(key.file(comment: "") == nil)
        let signature = try sign(key)
        #expect(signature.isValid(for: SSHMessage(of: Self.message), namespace: "file"))
        #expect(throws: AgeError.self) {
            try SigningKey(SigningKey().publicKey, inAgentAt: socket)
        }
        #expect(throws: AgeError.self) {
            try SigningKey(publicKey, inAgentAt: sandbox.path("nobody"))
        }
    }
}

@Suite("A file of trusted keys")
struct AllowedSignersTests {
    private static let key = SigningKey().publicKey
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)

    private func signer(_ line: String, namespace: String = "n") throws -> String? {
        try AllowedSigners(line, path: "allowed").signer(
            of: Self.key,
            namespace: namespace,
            at: Self.now
        )?.name
    }

    @Test("A file of trusted keys holds the names of keys and their limits")
    func lines() throws {
        let key = Self.key.text
        #expect(try signer("# a comment\n\nnas \(key) a comment\n") == "nas")
        #expect(try signer("nas namespaces=\"m,n\" \(key)") == "nas")
        #expect(try signer("nas namespaces=\"m\" \(key)") == nil)
        #expect(try signer("nas valid-before=\"20200101\" \(key)") == nil)
        #expect(
            try signer("nas valid-after=\"20200101Z\",valid-before=\"209901010000Z\" \(key)")
                == "nas"
        )
        #expect(try signer("nas cert-authority \(key)") == nil)
        #expect(try signer("nas ecdsa-sha2-nistp256 AAAA\nnas \(key)") == "nas")
        let line = AllowedSigners.line(for: Self.key, name: "a b,\"c", namespace: "n")
        #expect(try signer(line) == "a_b__c")
        #expect(try signer(line, namespace: "m") == nil)
    }

    @Test(
        "A file of trusted keys with a wrong line is refused with the line's number",
        arguments: [
            "nas", "nas ssh-ed25519", "nas ssh-ed25519 AAAA", "nas frob=1 ssh-ed25519 AAAA",
            "nas valid-before=\"20201301\" KEY", "nas valid-before=\"x\" KEY",
            "nas namespaces=\"n\"",
            "nas valid-after=\"20200101\" what AAAA",
        ]
    )
    func wrong(line: String) throws {
        let line = line.replacingOccurrences(of: "KEY", with: Self.key.text)
        let text = "good \(Self.key.text)\n# \n\(line)\n"
        let error = #expect(throws: AgeError.self) { try AllowedSigners(text, path: "allowed") }
        #expect(error.map { "\($0)" }?.contains("'allowed', line 3: ") == true, "\(line)")
    }
}
