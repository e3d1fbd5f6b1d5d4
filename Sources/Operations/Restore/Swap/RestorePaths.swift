internal import Files
internal import Stores
internal import SystemPackage

/// The directories that a restore works with.
struct RestorePaths {
    /// The location of these directories.
    enum Layout: CaseIterable {
        /// Beside the stores directory, which is exchanged as a whole.
        case beside
        /// In a hidden directory in the stores directory, which is not renamed: it is a mount point, or nothing may be
        /// created beside it.
        case inside
    }

    let layout: Layout
    /// The stores directory.
    let live: FilePath
    /// The directory that contains all of the following.
    let area: FilePath
    /// The directory that is being restored.
    let new: FilePath
    /// The directory that was in place before.
    let old: FilePath
    let journal: FilePath

    /// Creates the paths for a stores directory, whose own path has no symbolic links.
    init(live: FilePath, _ layout: Layout) {
        self.layout = layout
        self.live = live
        switch layout {
        case .beside:
            area = live.removingLastComponent()
            new = live.derived("_New")
            old = live.derived("_Old")
            // Its draft needs a longer name.
            journal = live.derived("_Restore.json", prefix: ".", room: 8)
        case .inside:
            area = RelativePath(name: StoresDirectory.restoreArea).below(live)
            new = area.appending("New")
            old = area.appending("Old")
            journal = area.appending("journal.json")
        }
    }

    /// Finds the paths for a stores directory, perhaps through a symbolic link.
    ///
    /// Uses the given layout, else the one that a restore must use. `nil` if even the parent directory is missing.
    init?(resolving stores: FilePath, _ layout: Layout? = nil) throws {
        if let live = try? stores.resolved() {
            self.init(live: live, try layout ?? Self.choose(for: live))
            return
        }
        guard let place = try Self.place(ofMissing: stores) else { return nil }
        self.init(live: place, layout ?? .beside)
    }

    /// Returns the place of a missing directory; `nil` if its parent is missing too.
    ///
    /// Between two renames, a symbolic link to the directory dangles, and the restore journal is in its parent.
    private static func place(ofMissing stores: FilePath) throws -> FilePath? {
        var path = stores
        // Linux follows as many links (path_resolution(7)).
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

    /// Chooses the layout of a restore; a failed exchange corrects it later.
    private static func choose(for live: FilePath) throws -> Layout {
        // An interrupted restore in a layout takes precedence.
        let beside = RestorePaths(live: live, .beside)
        if try beside.hasTraces() { return .beside }
        let inside = RestorePaths(live: live, .inside)
        // An exchange would take away the refused data that is kept there.
        if (try? FileInfo(of: inside.area)) != nil { return .inside }
        return try live.isMountPoint() || !beside.area.allowsChanges ? .inside : .beside
    }

    /// The directory on whose file system the restore stages.
    var volume: FilePath { layout == .inside ? live : area }

    /// Whether an interrupted restore left something to settle.
    func hasTraces() throws -> Bool {
        do {
            for path in [journal, LocalFileSystem.draft(of: journal)]
            where try FileInfo.ifPresent(path) != nil {
                return true
            }
            return try layout == .inside && FileInfo.ifPresent(area)?.kind == .directory
                && Directory.open(area).names().isEmpty
        } catch FileError.failed(_, _, .permissionDenied) {
            // Without permission to read the directory, nothing in it can be settled, or backed up.
            return false
        }
    }

    /// The existing directories and files of a restore, for messages.
    var traces: [FilePath] {
        let found = [new, old, journal, LocalFileSystem.draft(of: journal)].filter {
            (try? FileInfo(of: $0)) != nil
        }
        // The directory that contains them is removed last.
        return found.isEmpty && layout == .inside ? [area] : found
    }

    /// Returns the place of kept data: `FailedRestore` is `Stores_FailedRestore` beside the stores directory.
    func kept(_ suffix: String, _ number: Int = 1) -> FilePath {
        let name = suffix + (number == 1 ? "" : "_\(number)")
        return layout == .inside ? area.appending(name) : live.derived("_\(name)")
    }

    /// Returns the places of kept data that are taken.
    func allKept(_ suffix: String) throws -> [FilePath] {
        let parent = kept(suffix).removingLastComponent()
        guard try FileInfo.ifPresent(parent) != nil, let first = kept(suffix).lastComponent?.string
        else { return [] }
        let names = try Directory.open(parent).names().map(\.description).filter { name in
            name == first
                || name.hasPrefix(first + "_") && Int(name.dropFirst(first.count + 1)) != nil
        }
        return names.sorted().map { parent.appending($0) }
    }

    /// Returns the first free place for kept data, counting from a number.
    func vacant(_ suffix: String, from first: Int = 1) throws -> FilePath {
        for number in first... {
            let path = kept(suffix, number)
            if try FileInfo.ifPresent(path) == nil { return path }
        }
        preconditionFailure("numbers do not end")
    }
}

extension RestorePaths {
    /// Returns the paths for a restore inside the stores directory if a process would still see that directory after a
    /// rename: a container, or a shell that works in it.
    ///
    /// - Parameter note: receives a message if there is such a process.
    /// - Returns: these paths, or those inside the directory.
    func sparingHeld(_ note: (String) -> Void) -> RestorePaths {
        guard layout == .beside,
            let holder = DirectoryHolder.of(live).first(where: { $0.path == nil })
        else { return self }
        guard live.allowsChanges else {
            note("'\(printable(live))' is replaced, but \(holder): open it again there")
            return self
        }
        note("'\(printable(live))' stays, and its content is replaced: \(holder)")
        return RestorePaths(live: live, .inside)
    }
}

extension RestorePaths {
    /// Returns what no restore made at the name of the restore area: the entries in that directory, or a file itself.
    ///
    /// - Throws: `FileError` if the directory cannot be listed.
    static func foreign(in area: WalkedFile) throws -> [RelativePath] {
        guard area.info.kind == .directory else { return [area.path] }
        return try area.directory.directory(area.name).names().sorted().filter { name in
            name.description.wholeMatch(
                of: /New|Old(_[0-9]+)?|FailedRestore(_[0-9]+)?|\.?journal\.json(\.draft)?/
            ) == nil
        }.map(area.path.appending)
    }
}

extension StoresDirectory {
    /// Throws `RestoreError.held` if a process sees something in the directory, or in a part of it, even after a
    /// rename: it would keep the present data, and write to it.
    func refuseIfHeld(of part: RestoredPart? = nil) throws {
        for holder in DirectoryHolder.of(path) {
            guard let held = holder.path, part?.contains(held) ?? true else { continue }
            throw RestoreError.held(held.below(path), by: holder)
        }
    }
}
