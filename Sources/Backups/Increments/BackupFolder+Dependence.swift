internal import Age
internal import Archives
internal import Remotes

extension BackupFolder {
    /// Finds out which backups are needed by others.
    ///
    /// - Parameters:
    ///   - backups: those of the folder.
    ///   - isForGood: whether those in the trash count too, which may come back.
    /// - Returns: who needs whom.
    /// - Throws: `RemoteError`.
    package func dependence(
        among backups: [Backup],
        goneForGood isForGood: Bool
    ) async throws -> Dependence {
        let trashed = isForGood ? try await trash.entries().map(backup) : []
        return Dependence(of: backups, by: backups + trashed)
    }

    /// The backups that cannot be restored without another one.
    package struct Dependants {
        /// Those that need it, each before those that it needs itself.
        package var known: [Backup]
        /// Those that may need it, or one of these, the newest first: they cannot be read here.
        package var possible: [Backup]
        /// The names of all backups in the folder: what is not in it is in the trash.
        package var listed: Set<String>
    }

    /// Finds out which backups cannot be restored without one, as far as that can be told at all.
    ///
    /// Archives of which nothing is known here are looked into, if they matter for that and can be read.
    /// - Parameters:
    ///   - backup: one of the folder.
    ///   - isForGood: whether those in the trash count too, which may come back.
    ///   - fetching: called before all of an archive is fetched, with its size in bytes.
    /// - Returns: those that need it, and those of which that cannot be told.
    /// - Throws: `RemoteError`, `FileError`, `CancellationError`.
    package func dependants(
        of backup: Backup,
        goneForGood isForGood: Bool,
        fetching: (Int64) -> Void
    ) async throws -> Dependants {
        var backups = try await list().backups
        let trashed = isForGood ? try await trash.entries().map(self.backup) : []
        var seen: Set<String> = []
        while true {
            let needs = Dependence(of: backups, by: backups + trashed, trustingNames: false)
            var going = [backups.first { $0.name == backup.name } ?? backup]
            var names = Set(going.map(\.name))
            var next = 0
            while next < going.count {
                for one in needs.knownDependants(of: going[next])
                where names.insert(one.name).inserted { going.append(one) }
                next += 1
            }
            var possible: [Backup] = []
            var unknown: [Backup] = []
            for one in going {
                let guesses = needs.possibleDependants(of: one)
                if !guesses.isEmpty { unknown.append(one) }
                possible += guesses.filter { names.insert($0.name).inserted }
            }
            unknown = (unknown + possible).filter { one in
                one.isUnknown && one.file.location == nil && !seen.contains(one.name)
                    && backups.contains { $0.name == one.name }
            }
            guard !unknown.isEmpty else {
                return Dependants(
                    known: Array(going.dropFirst()).dependantsFirst,
                    possible: possible.newestFirst,
                    listed: Set(backups.map(\.name))
                )
            }
            for one in unknown {
                seen.insert(one.name)
                guard let known = try await lookAlone(at: one, fetching: fetching),
                    let index = backups.firstIndex(where: { $0.name == one.name })
                else { continue }
                backups[index] = known
            }
        }
    }

    /// Returns a backup with what its archive says of it; `nil` if that cannot be read.
    func lookAlone(
        at backup: Backup,
        fetching: (Int64) -> Void
    ) async throws -> Backup? {
        do {
            let archived = try await openAloneInPlace(
                backup,
                holdingTo: nil,
                fetching: fetching
            )
            return backup.knowing(archived)
        } catch RemoteError.noFile {
            return nil
        } catch let error
            where error.isOfKeys || error is ArchiveError || error is ArchivedBackupError
            || error is AgeError
        {
            return nil
        }
    }

    /// Returns the backups of the folder that cannot be restored without one, or perhaps not, the newest first.
    ///
    /// - Throws: `RemoteError`.
    package func dependants(of backup: Backup) async throws -> [Backup] {
        let backups = try await list().backups
        return Dependence(of: backups, by: backups).dependants(of: backup)
    }
}
