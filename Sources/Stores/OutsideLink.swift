public import Files
public import SystemPackage

/// A symbolic link that leads out of the stores directory, to one store or to a directory with stores in it.
public struct OutsideLink: Sendable {
    /// The treatment of such links.
    public enum Treatment: Sendable {
        /// Links are not examined.
        case ignored
        /// Links are reported.
        case reported
        /// A link to a store counts as that store; other links are reported.
        case followed
    }

    /// The link's path below the stores directory.
    public let path: RelativePath
    /// The link's target, without symbolic links.
    public let target: FilePath
    /// Whether the link leads to a store itself.
    public let isStore: Bool
    let info: FileInfo
}

extension StoresDirectory {
    /// The limits of the search behind a link: levels of directories, and number of files.
    private static let (outsideDepth, outsideFiles) = (3, 2_000)

    /// Returns a link that leads out of the stores directory to a store, or to a directory with one; else `nil`.
    func outside(_ link: WalkedFile) -> OutsideLink? {
        guard let target = try? link.path.below(path).resolved(), !target.starts(with: path),
            let info = try? FileInfo(of: target)
        else { return nil }
        let isStore = info.kind == .file
        guard isStore ? Self.isStore(target, info) : hasStore(below: target, info) else {
            return nil
        }
        return OutsideLink(path: link.path, target: target, isStore: isStore, info: info)
    }

    private static func isStore(_ path: FilePath, _ info: FileInfo) -> Bool {
        guard info.size > 0, let file = try? File.open(path) else { return false }
        return (try? DatabaseHeader.begins(DatabaseHeader.start(of: file))) ?? false
    }

    private struct IsFound: Error {}
    private struct IsEnough: Error {}

    /// Returns whether a directory contains a store, within the limits.
    ///
    /// The search skips the stores directory itself.
    private func hasStore(below target: FilePath, _ info: FileInfo) -> Bool {
        guard info.kind == .directory, let directory = try? Directory.open(target) else {
            return false
        }
        let own = try? FileInfo(of: path).identity
        var count = 0
        do {
            try directory.walk(failed: { _, _ in }) { file in
                count += 1
                guard count < Self.outsideFiles else { throw IsEnough() }
                if file.info.identity == own { return .skip }
                if file.info.kind == .file, try Self.isStore(file) { throw IsFound() }
                return file.path.components.count < Self.outsideDepth ? .descend : .skip
            }
            return false
        } catch {
            return error is IsFound
        }
    }
}
