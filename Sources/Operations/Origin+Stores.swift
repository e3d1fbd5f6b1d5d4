public import Backups
internal import Files
internal import Foundation
internal import Sync
public import SystemPackage

extension Origin {
    /// Creates the origin of a stores directory on this machine, whether it exists or not.
    ///
    /// - Parameters:
    ///   - stores: the directory.
    ///   - name: the name that the user gave it; `nil` for host and path.
    public init(of stores: FilePath, named name: String? = nil) {
        let here = FilePath(FileManager.default.currentDirectoryPath)
        let path = here.pushing(stores).lexicallyNormalized()
        let live = (try? RestorePaths(resolving: path, .beside))?.live ?? path
        let host = ProcessInfo.processInfo.hostName
        // A clone of a machine has its id, too. Macs and containers have none.
        let text =
            name.map { "named origin 1\0\($0)" }
            ?? "origin of stores 2\0\(Machine.current)\0\(host)\0\(live.string)"
        let digest = Array(text.utf8).withUnsafeBytes { Digest(of: $0) }
        self.init(
            id: String(digest.description.prefix(32)),
            name: name ?? "\(host):\(printable(live))",
            isNamed: name != nil
        )
    }
}
