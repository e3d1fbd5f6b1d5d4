internal import Age
internal import Archives
package import Files
internal import Remotes

/// The backups that cannot be restored without another one.
package struct Dependants {
    /// The backups that need it, each before the backups that it needs itself.
    package var known: [Backup]
    /// The backups that may need it or one of these, newest first; they cannot be read here.
    package var possible: [Backup]
    /// The names of all backups in the folder; the others wait to be sent, or are in the trash.
    package var listed: Set<ExactString>

    /// Finds the backups that cannot be restored without a given one, as far as possible.
    ///
    /// Unknown archives are inspected if they matter for the result and can be read.
    /// - Parameters:
    ///   - backup: a backup of the folder.
    ///   - folder: the folder.
    ///   - isForGood: whether backups in the trash count too, since they may come back; those that wait always do.
    ///   - fetching: called with an archive's size in bytes before the whole archive is fetched.
    /// - Throws: `RemoteError`, `FileError`, `CancellationError`.
    package init(
        of backup: Backup,
        in folder: BackupFolder,
        goneForGood isForGood: Bool,
        fetching: (Int64) -> Void
    ) async throws {
        var backups = try await folder.list().backups
        let others = try await Dependence.outsiders(in: folder, beside: backups, isForGood)
        var seen: Set<ExactString> = []
        while true {
            let needs = Dependence(of: backups, by: backups + others, trustingNames: false)
            var going = [backups.first { $0.name.exact == backup.name.exact } ?? backup]
            var names = Set(going.map(\.name.exact))
            var next = 0
            while next < going.count {
                for one in needs.knownDependants(of: going[next])
                where names.insert(one.name.exact).inserted { going.append(one) }
                next += 1
            }
            var possible: [Backup] = []
            var unknown: [Backup] = []
            for one in going {
                let guesses = needs.possibleDependants(of: one)
                if !guesses.isEmpty { unknown.append(one) }
                possible += guesses.filter { names.insert($0.name.exact).inserted }
            }
            unknown = (unknown + possible).filter { one in
                one.isUnknown && one.file.location == nil && !seen.contains(one.name.exact)
                    && backups.contains { $0.name.exact == one.name.exact }
            }
            guard !unknown.isEmpty else {
                known = Array(going.dropFirst()).dependantsFirst
                self.possible = possible.newestFirst
                listed = Set(backups.map(\.name.exact))
                return
            }
            for one in unknown {
                seen.insert(one.name.exact)
                guard let known = try await folder.lookAlone(at: one, fetching: fetching),
                    let index = backups.firstIndex(where: { $0.name.exact == one.name.exact })
                else { continue }
                backups[index] = known
            }
        }
    }
}

extension Dependence {
    /// Determines which backups of a folder need others.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - backups: its backups.
    ///   - isForGood: whether backups in the trash count too, since they may come back.
    /// - Throws: `RemoteError`.
    package init(
        in folder: BackupFolder,
        among backups: [Backup],
        goneForGood isForGood: Bool
    ) async throws {
        let others = try await Self.outsiders(in: folder, beside: backups, isForGood)
        self.init(of: backups, by: backups + others)
    }

    /// Throws `BackupFolderError.needed` if other backups are built on a backup, and would be lost without it.
    package func refuseRemoval(of backup: Backup) throws {
        let dependants = dependants(of: backup)
        guard dependants.isEmpty else {
            throw BackupFolderError.needed(
                backup.displayName,
                by: dependants.map(\.displayName)
            )
        }
    }

    /// Returns the backups that may need others of a folder without being listed: those that wait to be sent, and those
    /// in the trash if these count.
    ///
    /// - Throws: `RemoteError`, `FileError`.
    static func outsiders(
        in folder: BackupFolder,
        beside backups: [Backup],
        _ countsTrash: Bool
    ) async throws -> [Backup] {
        let ids = Set(backups.compactMap(\.id))
        let waiting = try await folder.outbox?.waiting() ?? []
        let trashed = countsTrash ? try await folder.trash.entries().map(folder.trash.backup) : []
        return waiting.filter { $0.id.map { !ids.contains($0) } ?? true } + trashed
    }
}
