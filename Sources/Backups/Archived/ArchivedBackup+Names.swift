internal import Archives
package import Files

/// The directory that macOS adds to a zip for attributes that only its own file systems can hold.
private let macOSDirectory: FileName = "__MACOSX"

// Archives of other programs may have all entries below one unwanted directory.
extension ArchivedBackup {
    /// Whether its manifest describes what is in it.
    package var isDescribed: Bool { header != nil && reader.origin == .ours }

    /// Returns the only name at the top level if it is a directory's.
    ///
    /// - Throws: `ArchiveError`.
    package func onlyTopDirectory() throws -> FileName? {
        var top: FileName?
        for index in 0..<reader.count {
            let entry = try reader.entry(at: index)
            let components = entry.attributes.path.components
            guard components[0] != macOSDirectory else { continue }
            guard components.count > 1 || entry.attributes.kind == .directory,
                top == nil || top == components[0]
            else { return nil }
            top = components[0]
        }
        return top
    }

    /// Returns the path that an entry of another program's archive is restored to; `nil` if it is not restored.
    func restoredPath(_ path: RelativePath) -> RelativePath? {
        guard strippedComponents > 0 else { return path }
        guard path.components[0] != macOSDirectory else { return nil }
        return path.dropping(first: strippedComponents)
    }
}
