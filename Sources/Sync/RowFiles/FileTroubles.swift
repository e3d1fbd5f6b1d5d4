internal import Changes
internal import Files
public import Stores

extension SyncOverview {
    /// Reads the overview from a sidecar, and looks at the files beside the store.
    ///
    /// - Throws: `SidecarError`.
    public init(of sidecar: Sidecar, _ store: Store) throws {
        try self.init(of: sidecar)
        do {
            fileTroubles = try sidecar.fileTroubles(of: store)
        } catch let error as FileError {
            fileTroubles = ["\(error)"]
        }
    }
}

extension Sidecar {
    /// Returns the reasons for which files that rows of the store name do not travel, in words.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    public func fileTroubles(of store: Store) throws -> [String] {
        let files = ExternalFiles(of: store)
        return try read { access in
            guard try access.membership.phase != nil else { return [] }
            let named = try access.membership.map.files.values.flatMap(\.values)
            let directories = Set(named + [store.externalDataDirectory]).sorted()
            let barriers = try directories.compactMap(files.barrier)
            let long = try access.awaited.tooLong(files).map { file in
                "'\(files.path(of: file))' is longer than 1 GiB, so its row travels without it"
            }
            return barriers + long
        }
    }
}
