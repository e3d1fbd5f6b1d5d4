internal import Files
internal import Operations
internal import Remotes
internal import SystemPackage

extension Invocation {
    /// rclone, with the limits of the profile; what it does is shown on the console.
    var rclone: Rclone {
        var rclone = namelessRclone
        rclone.machine = Self.machine
        return rclone
    }

    /// What this machine alone knows; made when it is first asked for.
    static var machine: String? {
        machine(in: FilePath(ProcessEnvironment.state + "/grocerydude"))
    }

    /// rclone, which does not know yet on which machine it is: nothing was made for that.
    var namelessRclone: Rclone {
        var rclone = Rclone()
        rclone.connectTimeout = profile.remoteConnectTimeout
        rclone.idleTimeout = profile.remoteIdleTimeout
        let report = context.report
        rclone.report = { report(OperationEvent($0)) }
        rclone.checkCancellation = context.checkCancellation
        return rclone
    }

    /// Returns what this machine alone knows, to be kept in a directory; `nil` if it cannot be.
    static func machine(in directory: FilePath) -> String? {
        let path = directory.appending("machine")
        if let kept = kept(at: path) { return kept }
        let digits = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }
        let partial = directory.appending(PartialName.make())
        do {
            try LocalFileSystem().createDirectories(directory)
            let file = try File.create(partial)
            try Array("\(digits.joined())\n".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            // Another run may be faster: its word counts.
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
