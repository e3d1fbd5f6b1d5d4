internal import Files
internal import Operations
internal import Remotes
internal import SystemPackage

extension Invocation {
    /// rclone with the profile's time limits; its events are shown on the console.
    var rclone: Rclone {
        var rclone = namelessRclone
        rclone.machine = Self.machine
        return rclone
    }

    /// This machine's secret, which is created on first use.
    static var machine: String? {
        machine(in: FilePath(ProcessEnvironment.state + "/grocerydude"))
    }

    /// rclone without this machine's secret, so that the secret need not be created.
    var namelessRclone: Rclone {
        var rclone = Rclone()
        rclone.connectTimeout = profile.remoteConnectTimeout
        rclone.idleTimeout = profile.remoteIdleTimeout
        let report = context.report
        rclone.report = { report(OperationEvent($0)) }
        rclone.checkCancellation = context.checkCancellation
        return rclone
    }

    /// Returns this machine's secret, which is kept in a directory; `nil` if it cannot be kept.
    static func machine(in directory: FilePath) -> String? {
        let path = directory.appending("machine")
        if let kept = kept(at: path) { return kept }
        let digits = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }
        let partial = directory.appending(PartialName.make())
        do {
            try LocalFileSystem().createDirectories(directory)
            let file = try File.create(partial)
            try Array("\(digits.joined())\n".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            // If another run was faster, its secret is used.
            try LocalFileSystem().move(partial, to: path)
        } catch {
            try? LocalFileSystem().remove(partial)
        }
        return kept(at: path)
    }

    private static func kept(at path: FilePath) -> String? {
        let bytes = try? File.contents(of: path, limit: 1024)
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }.flatMap {
            $0.isEmpty ? nil : $0
        }
    }
}
