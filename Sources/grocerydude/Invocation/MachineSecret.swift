internal import Files
internal import Remotes
internal import SystemPackage

/// This machine's secret, by which rclone's remotes know its unfinished uploads.
enum MachineSecret {
    /// The secret in the state directory, which is created on first use.
    static var kept: String? {
        kept(in: FilePath(ProcessEnvironment.state + "/grocerydude"))
    }

    /// Returns this machine's secret, which is kept in a directory; `nil` if it cannot be kept.
    static func kept(in directory: FilePath) -> String? {
        let path = directory.appending("machine")
        if let kept = text(at: path) { return kept }
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
        return text(at: path)
    }

    private static func text(at path: FilePath) -> String? {
        let bytes = try? File.contents(of: path, limit: 1024)
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }.flatMap {
            $0.isEmpty ? nil : $0
        }
    }
}
