internal import Files
internal import GRDB
public import SystemPackage

extension Sidecar {
    /// Makes a copy, on which a run can be tried; files that wait for upload are told in it and not there.
    ///
    /// - Parameter directory: where it goes; it is made.
    /// - Returns: the copy, open.
    /// - Throws: `SidecarError`, `FileError`.
    public func copy(to directory: FilePath) throws -> Sidecar {
        let copy = try Sidecar(in: directory)
        do {
            try queue.backup(to: copy.queue)
        } catch let error as DatabaseError {
            throw SidecarError(error, of: path)
        }
        // It is no other device for being another file.
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
