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
            found[index] = try [livePath(of: paths.names[index])].compactMap(\.self).filter {
                path in
                try isNew(path) && (owner(of: path) == nil || liveStores[path] != nil)
            }
        }
        gone.paths = found.values.flatMap(\.self)
        gone.directories = try directories(of: gone.paths, where: isNew)
        let rest = paths.names.indices.filter { found[$0]?.isEmpty ?? true }
        return (NamedPaths(rest.map { paths.names[$0] }), gone)
    }

    /// Returns the path that a name denotes in the stores directory: the path that is printed so, else the exact one.
    private func livePath(of name: String) throws -> RelativePath? {
        try [RelativePath(printed: name), try? RelativePath(name)].compactMap(\.self).first {
            try FileInfo.inside(live.path, $0) != nil
        }
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
