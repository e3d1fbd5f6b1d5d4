internal import Changes
internal import Files
internal import Remotes
internal import SystemPackage

// Programs that synchronise a folder make two of one: "log (1)", "LOG", "notes (Case Conflict)".
extension Container {
    /// Returns the directories of this machine that are doubles of a group's folder, or are in a double of the group's.
    ///
    /// - Parameter folder: the folder; `nil` for the container's root, which has none.
    /// - Returns: the directories, in no order.
    /// - Throws: `FileError`.
    func doubles(of folder: String?) throws -> [any RemoteFolder] {
        guard let folder, let root = root.directory else { return [] }
        let own = root.appending(group.description).appending(folder)
        // If the file system ignores the case of names, it is the folder itself.
        let identity = try FileInfo.ifPresent(own)?.identity
        return try Directory.open(root).doubles(of: group.description)
            .flatMap { try $0.doubles(of: folder) }
            .filter { try $0.path != own && $0.info().identity != identity }
            .map { LocalFolder($0.path) }
    }
}

extension Directory {
    /// Returns the directories in this one with a name, or with one that was made of it.
    ///
    /// Only a character that no group's name has may follow the name, or this would be another group's folder.
    fileprivate func doubles(of name: String) throws -> [Directory] {
        try names().compactMap { found in
            guard let text = String(validating: found.bytes, as: UTF8.self)?.lowercased(),
                text.hasPrefix(name),
                text.dropFirst(name.count).first.map({ GroupName("\($0)") == nil }) ?? true,
                try info(found).kind == .directory
            else { return nil }
            return try directory(found)
        }
    }
}
