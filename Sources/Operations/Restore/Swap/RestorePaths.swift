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

    /// Names the paths for a stores directory, whose own path has no symbolic links.
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

    /// Finds the paths for a stores directory, perhaps through a symbolic link, in the layout that a restore
    /// has to take unless one is given; `nil` if not even the directory is there that would hold it.
    init?(resolving stores: FilePath, _ layout: Layout? = nil) throws {
        if let live = try? stores.resolved() {
            self.init(live: live, try layout ?? Self.choose(for: live))
            return
        }
        guard let place = try Self.place(ofMissing: stores) else { return nil }
        self.init(live: place, layout ?? .beside)
    }

    /// Returns the place of a missing directory; `nil` if the directory is missing too that would hold it.
    ///
    /// Between two renames, a symbolic link to it leads nowhere, and the restore journal is there.
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

    /// Chooses where a restore stages; a failed exchange corrects it later.
    private static func choose(for live: FilePath) throws -> Layout {
        // A restore that was begun there comes first.
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

    /// The directories and files of a restore that are there, for messages.
    var traces: [FilePath] {
        let found = [new, old, journal, LocalFileSystem.draft(of: journal)].filter {
            (try? FileInfo(of: $0)) != nil
        }
        // The directory that they are in is the last to go.
        return found.isEmpty && layout == .inside ? [area] : found
    }

    /// The place of data that is kept: `FailedRestore` is `Stores_FailedRestore` beside the stores directory.
    func kept(_ suffix: String, _ number: Int = 1) -> FilePath {
        let prefix = layout == .inside ? "" : "\(live.lastComponent?.string ?? "Stores")_"
        return area.appending(prefix + suffix + (number == 1 ? "" : "_\(number)"))
    }

    /// Returns the first free place for data that is to be kept, from a number on.
    func vacant(_ suffix: String, from first: Int = 1) throws -> FilePath {
        for number in first... {
            let path = kept(suffix, number)
            if try FileInfo.ifPresent(path) == nil { return path }
        }
        preconditionFailure("numbers do not end")
    }
}
