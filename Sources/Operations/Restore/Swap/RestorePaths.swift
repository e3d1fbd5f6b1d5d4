internal import Files
internal import Stores
internal import SystemPackage

/// The directories that a restore works with.
struct RestorePaths {
    /// Where they are.
    enum Layout: CaseIterable {
        /// Beside the stores directory, which changes places with them as a whole.
        case beside
        /// In a hidden directory in the stores directory, which stays where it is: a mount point, or
        /// one beside which nothing may be made.
        case inside
    }

    let layout: Layout
    /// The stores directory.
    let live: FilePath
    /// The directory that holds all of the following.
    let area: FilePath
    /// The directory that is being restored.
    let new: FilePath
    /// The directory that was there.
    let old: FilePath
    let journal: FilePath

    /// - Parameters:
    ///   - live: the stores directory, without symbolic links.
    ///   - layout: where the others are.
    init(live: FilePath, _ layout: Layout) {
        self.layout = layout
        self.live = live
        let name = live.lastComponent?.string ?? "Stores"
        switch layout {
        case .beside:
            area = live.removingLastComponent()
            new = area.appending("\(name)_New")
            old = area.appending("\(name)_Old")
            journal = area.appending(".\(name)_Restore.json")
        case .inside:
            area = RelativePath(name: StoresDirectory.restoreArea).below(live)
            new = area.appending("New")
            old = area.appending("Old")
            journal = area.appending("journal.json")
        }
    }

    /// The paths for a stores directory that may not be there; `nil` if not even the directory is that
    /// would hold it.
    ///
    /// - Parameters:
    ///   - stores: the stores directory, perhaps through a symbolic link.
    ///   - layout: `nil` for the one that a restore has to take.
    /// - Throws: `FileError`.
    init?(resolving stores: FilePath, _ layout: Layout? = nil) throws {
        if let live = try? stores.resolved() {
            self.init(live: live, try layout ?? Self.choose(for: live))
            return
        }
        guard let place = try Self.place(ofMissing: stores) else { return nil }
        self.init(live: place, layout ?? .beside)
    }

    /// Returns where a directory that is missing would be; `nil` if the one is missing too that would hold it.
    ///
    /// Between two renames, a symbolic link to it leads nowhere; the restore journal is where it leads.
    private static func place(ofMissing stores: FilePath) throws -> FilePath? {
        var path = stores
        // As many as Linux follows (path_resolution(7)).
        for _ in 0..<40 {
            guard let name = path.lastComponent else { return nil }
            let parent = path.removingLastComponent()
            do {
                let directory = try (parent.isEmpty ? FilePath(".") : parent).resolved()
                path = directory.appending(name)
                guard try FileInfo.ifPresent(path)?.kind == .link else { return path }
                path = try path.linkTarget()
            } catch let error as FileError where error.isMissing {
                return nil
            }
        }
        return nil
    }

    /// Chooses where a restore stages.
    ///
    /// If a system does not tell it of a directory, an exchange that fails does.
    private static func choose(for live: FilePath) throws -> Layout {
        // A restore that was begun beside it comes first.
        let beside = RestorePaths(live: live, .beside)
        if try beside.hasTraces() { return .beside }
        let inside = RestorePaths(live: live, .inside)
        // The refused data that is kept there would go with the directory.
        if (try? FileInfo(of: inside.area)) != nil { return .inside }
        return try live.isMountPoint() || !beside.area.allowsChanges ? .inside : .beside
    }

    /// The directory on whose file system the restore stages.
    var volume: FilePath { layout == .inside ? live : area }

    /// Whether an interrupted restore left something to be settled.
    func hasTraces() throws -> Bool {
        do {
            for path in [journal, LocalFileSystem.draft(of: journal)]
            where try FileInfo.ifPresent(path) != nil {
                return true
            }
            return try layout == .inside && FileInfo.ifPresent(area)?.kind == .directory
                && Directory.open(area).names().isEmpty
        } catch FileError.failed(_, _, .permissionDenied) {
            // Without the permission to look into it, nothing in it can be settled, nor backed up.
            return false
        }
    }

    /// The restore's own directories and files that are there, for messages.
    var traces: [FilePath] {
        let found = [new, old, journal, LocalFileSystem.draft(of: journal)].filter {
            (try? FileInfo(of: $0)) != nil
        }
        // The directory that they are in is the last to go.
        return found.isEmpty && layout == .inside ? [area] : found
    }

    /// A name that is free, for data that is to be kept.
    ///
    /// - Parameters:
    ///   - suffix: what it is: `FailedRestore` becomes `Stores_FailedRestore` beside the stores
    ///     directory.
    ///   - first: the first number to try; 1 is not written.
    /// - Returns: a path where nothing is.
    /// - Throws: `FileError`.
    func vacant(_ suffix: String, from first: Int = 1) throws -> FilePath {
        let name =
            layout == .inside ? suffix : "\(live.lastComponent?.string ?? "Stores")_\(suffix)"
        for number in first... {
            let path = area.appending(number == 1 ? name : "\(name)_\(number)")
            if try FileInfo.ifPresent(path) == nil { return path }
        }
        preconditionFailure("numbers do not end")
    }
}
