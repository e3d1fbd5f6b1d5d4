internal import Files
internal import GRDB
public import SystemPackage

extension Sidecar {
    /// Creates a copy on which a run can be tried.
    ///
    /// It records the files that wait for upload, but does not contain them.
    ///
    /// - Parameter directory: the directory for the copy, which is created.
    /// - Returns: the copy, open.
    /// - Throws: `SidecarError`, `FileError`.
    public func copy(to directory: FilePath) throws -> Sidecar {
        let copy = try Sidecar(in: directory)
        do {
            try queue.backup(to: copy.queue)
        } catch let error as DatabaseError {
            throw SidecarError(error, of: path)
        }
        // The copy is another file, but not another device.
        let (old, new) = (try FileInfo(of: path).identity, try FileInfo(of: copy.path).identity)
        try copy.write { access in
            guard let place = try access.text("place"), place.hasSuffix(" \(old.inode)") else {
                return
            }
            let machine = place.dropLast("\(old.inode)".count)
            try access.set("place", "\(machine)\(new.inode)")
        }
        return copy
    }
}
