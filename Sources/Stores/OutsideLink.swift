public import Files
public import SystemPackage

/// A symbolic link to stores that are not in the stores directory: a link that leads out of it, or to nothing.
public struct OutsideLink: Sendable {
    /// The end of a link.
    public enum End: Sendable {
        case store
        /// A directory with stores in it.
        case directory
        /// Nothing, and the link has the name of a database: its disk may not be mounted.
        case nothing
    }

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
    /// The link's target, without symbolic links; of a link to nothing, as the link names it.
    public let target: FilePath
    public let end: End
    let info: FileInfo
}

extension StoresDirectory {
    /// The limits of the search behind a link: levels of directories, and number of files.
    private static let (outsideDepth, outsideFiles) = (3, 2_000)

    /// Returns a link that leads out of the stores directory to stores, or that may do so; else `nil`.
    func outside(_ link: WalkedFile) -> OutsideLink? {
        let target: FilePath
        do {
            target = try link.path.below(path).resolved()
        } catch let error as FileError where error.isMissing && Self.hasDatabaseName(link) {
            guard let named = try? link.directory.linkTarget(link.name) else { return nil }
            let target = FilePath(String(decoding: named, as: UTF8.self))
            return OutsideLink(path: link.path, target: target, end: .nothing, info: link.info)
        } catch {
            return nil
        }
        guard !target.starts(with: path), let info = try? FileInfo(of: target) else { return nil }
        let isStore = info.kind == .file
        guard isStore ? Self.isStore(target, info) : hasStore(below: target, info) else {
            return nil
        }
        let end: OutsideLink.End = isStore ? .store : .directory
        return OutsideLink(path: link.path, target: target, end: end, info: info)
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
