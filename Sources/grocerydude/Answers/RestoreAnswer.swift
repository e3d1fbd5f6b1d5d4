internal import Backups
internal import Files
internal import Operations

/// The answer about a backup that was or would be restored.
struct RestoreAnswer: Answer, JSONConvertible {
    let outcome: RestoreBackup.Outcome
    let isDryRun: Bool
    /// The changes that a dry run found; `nil` if it did not compare.
    var preview: RestorePreview?
    let invocation: Invocation

    var json: JSONObject {
        let (only, removed) = (outcome.only, outcome.removed)
        return [
            "messageType": "summary", "name": outcome.backup.name, "path": outcome.path,
            "origin": outcome.backup.originName, "only": only.isEmpty ? nil : only,
            "removed": removed.isEmpty ? nil : removed, "files": outcome.files,
            "bytes": outcome.bytes, "stores": outcome.stores,
            "safetyBackup": outcome.safetyBackup?.name, "dryRun": isDryRun,
            "dataRead": outcome.isDataRead, "problems": outcome.problems,
            "changes": isDryRun ? preview?.json : nil,
        ]
    }

    /// The given names and the word "from", for a sentence.
    private var part: String {
        restored.isEmpty ? "" : "\(Self.names(restored)) from "
    }

    /// The given names that the backup has.
    private var restored: [String] {
        let removed = Set(outcome.removed.map(\.exact))
        return outcome.only.filter { !removed.contains($0.exact) }
    }

    /// The removed names as a sentence; `nil` if there are none.
    private var removal: String? {
        let removed = outcome.removed
        guard !removed.isEmpty else { return nil }
        let verb = removed.count == 1 ? "was" : "were"
        return
            "\(isDryRun ? "would remove" : "removed") \(Self.names(removed)), which \(verb) not there before"
    }

    private static func names(_ names: [String]) -> String {
        "'\(names.first ?? "")'" + (names.count > 1 ? " and \(names.count - 1) more" : "")
    }

    private func writePlan(to console: Console) {
        if let removal { console.answer(removal) }
        console.answer(lines: (preview?.lines ?? []).map { "  \($0)" })
        if !outcome.isDataRead {
            console.message("its data was not fetched: 'grocerydude check' would read it")
        }
        if outcome.replacesData, invocation.profile.restore.makesSafetyBackup {
            console.answer("would back up the present data first")
        }
    }

    func write(to console: Console) {
        let isRestored = outcome.removed.isEmpty || !restored.isEmpty
        let place = "\(part)'\(outcome.backup.displayName)' to '\(outcome.path)'"
        let counts = [
            counted(outcome.files, "file", "files"), byteCount(outcome.bytes),
            outcome.stores.map { counted($0, "store", "stores") },
        ]
        let what = counts.compactMap(\.self).joined(separator: ", ")
        guard !isDryRun else {
            if isRestored { console.answer("would restore \(place): \(what)") }
            return writePlan(to: console)
        }
        if isRestored {
            console.done("restored \(place)")
            let backups = outcome.backups.map { " (\(counted($0, "backup", "backups")))" } ?? ""
            let folder =
                outcome.backup.isWaiting
                ? "the queue of this machine" : "'\(invocation.address)'\(backups)"
            console.message("\(what), from \(folder)")
        }
        if let removal { console.done(removal) }
        if let safety = outcome.safetyBackup {
            console.message(
                "the data from before is in '\(safety.displayName)': to undo, run \(UndoHint.command(safety, only: outcome.only))"
            )
        }
        guard outcome.replacesData else { return }
        for holder in outcome.stillOpen {
            console.message(
                "\(holder) still has a replaced store open: all that it writes is lost, so end it now"
            )
        }
        // The application may not use files that are no stores.
        let hasStores = outcome.only.isEmpty || outcome.stores.map { $0 > 0 } ?? true
        if invocation.applicationCommands.start.isEmpty, hasStores {
            console.message("restart the application, or have it open its stores again")
        }
    }
}

/// The command that undoes a restore.
enum UndoHint {
    /// Returns the command, in quotes.
    ///
    /// - Parameters:
    ///   - safety: the safety backup; `--undo` takes none that is not signed, so the command names such a one.
    ///   - paths: the restored paths if only a part was restored, since later changes of other paths must stay.
    /// - Returns: the command.
    static func command(_ safety: Backup, only paths: [String]) -> String {
        guard safety.distrust != nil else { return "'grocerydude restore --undo'" }
        let names = paths.map(Advice.part)
        let only = names.isEmpty ? "" : " --only \(names.joined(separator: " "))"
        return Advice.quoted(Advice.command("restore\(only)", safety.displayName))
    }
}
