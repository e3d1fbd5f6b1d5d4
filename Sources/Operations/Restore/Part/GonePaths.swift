internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// The named paths that only the stores directory has: they were created after the backup, and are removed.
struct GonePaths {
    /// The named paths that are removed.
    var paths: [RelativePath] = []
    /// The directories that were created together with them and contain nothing else, with the names in them.
    var directories: [RelativePath: Set<FileName>] = [:]

    /// Throws `PartError.changed` if the directories contain anything else now.
    func refuseIfChanged(in live: FilePath) throws {
        for (path, names) in directories {
            guard try FileInfo.inside(live, path)?.kind == .directory,
                try names.isSuperset(of: Directory.open(path.below(live)).names())
            else { throw PartError.changed(path.below(live)) }
        }
    }
}

extension PartSearch {
    /// Splits names into those that the backup has, and the paths that only the stores directory has.
    ///
    /// Paths that the backup excluded, or could not read, may have existed then, so they do not count as new.
    func splitMissing(_ paths: NamedPaths) throws -> (NamedPaths, GonePaths) {
        var gone = GonePaths()
        var missing = Set(paths.names.indices)
        try backup.forEach { item in
            if let match = paths.match(item.attributes.path) { missing.subtract(match.indices) }
        }
        guard !missing.isEmpty, backup.plan.isDescribed else { return (paths, gone) }
        let unsaved = Set(try backup.contents().problems.map(\.path.exact))
        let leavingOut = LeavingOut.matches(try backup.plan.exclusions())
        func isNew(_ path: RelativePath) throws -> Bool {
            try !leavingOut.leavesOut(path, in: live.path)
                && !unsaved.contains(path.description.exact)
        }
        var found: [Int: [RelativePath]] = [:]
        for index in missing {
            found[index] = try livePaths(of: paths.names[index]).filter { path in
                try isNew(path) && (owner(of: path) == nil || liveStores[path] != nil)
            }
        }
        gone.paths = found.values.flatMap(\.self)
        gone.directories = try directories(of: gone.paths, where: isNew)
        let rest = paths.names.indices.filter { found[$0]?.isEmpty ?? true }
        return (NamedPaths(rest.map { paths.names[$0] }), gone)
    }

    /// Returns the paths that a name denotes in the stores directory: the exact path, else paths that are printed so.
    private func livePaths(of name: String) throws -> [RelativePath] {
        if let path = try? RelativePath(name), try FileInfo.inside(live.path, path) != nil {
            return [path]
        }
        // Only paths that need escapes are printed differently.
        guard name.contains("\\") else { return [] }
        let named = NamedPaths([name])
        var paths: [RelativePath] = []
        try Directory.open(live.path).walk(failed: { throw $1 }) { file in
            try context.checkCancellation()
            guard named.match(file.path)?.root == file.path else { return .descend }
            paths.append(file.path)
            return .skip
        }
        return paths
    }

    /// Returns the directories that the backup lacks, and that contain only names that are removed.
    private func directories(
        of gone: [RelativePath],
        where isNew: (RelativePath) throws -> Bool
    ) throws -> [RelativePath: Set<FileName>] {
        var above = RestoredPart(gone).above
        guard !above.isEmpty else { return [:] }
        try backup.forEach { item in
            for path in sequence(first: item.attributes.path, next: \.parent) { above.remove(path) }
        }
        var going = Set(gone)
        for path in gone where liveStores[path] != nil {
            try going.formUnion(Store.paths(beside: path).filter(isSidecarHere))
        }
        var directories: [RelativePath: Set<FileName>] = [:]
        // The deepest directories come first, because a directory may be the only content of another.
        for path in above.sorted(by: >) where try isNew(path) && !isReserved(path) {
            let names = try Directory.open(path.below(live.path)).names()
            guard names.allSatisfy({ going.contains(path.appending($0)) }) else { continue }
            directories[path] = Set(names)
            going.insert(path)
        }
        return directories
    }
}
