public import Backups
internal import Files
internal import Foundation
internal import Sync
public import SystemPackage

/// Tells the backups of one stores directory from those of others in the same folder.
public enum StoresOrigin {
    /// Returns a text that stands for a stores directory on this machine, whether it is there or not.
    ///
    /// It is a hash: neither the machine nor the path is to be told to everybody who can read the folder.
    public static func of(_ stores: FilePath) -> String {
        let here = FilePath(FileManager.default.currentDirectoryPath)
        let path = here.pushing(stores).lexicallyNormalized()
        let live = (try? RestorePaths(resolving: path, .beside))?.live ?? path
        var machine = Machine.current
        // A Mac, or a container.
        if machine.isEmpty { machine = ProcessInfo.processInfo.hostName }
        let text = Array("origin of stores 1\0\(machine)\0\(live.string)".utf8)
        return String(text.withUnsafeBytes { Digest(of: $0) }.description.prefix(32))
    }

    fileprivate static func isOther(_ origin: String?, than stores: FilePath) -> Bool {
        origin.map { $0 != of(stores) } ?? false
    }
}

extension ManifestHeader {
    /// Returns whether the backup is known to be of another machine or another stores directory.
    func isOfOther(than stores: FilePath) -> Bool { StoresOrigin.isOther(origin, than: stores) }
}

extension Backup {
    /// Returns whether it is known to be of another machine or another stores directory.
    public func isOfOther(than stores: FilePath) -> Bool {
        StoresOrigin.isOther(origin, than: stores)
    }
}
