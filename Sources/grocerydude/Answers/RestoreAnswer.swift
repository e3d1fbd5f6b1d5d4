internal import Backups
internal import Files
internal import Operations

/// The answer about a backup that was or would be restored.
struct RestoreAnswer: Answer {
    var messageType = "summary"
    var name: String
    var path: String
    /// The name of the machine and the stores directory according to its manifest.
    var origin: String?
    /// The given names; missing if the whole backup was restored.
    var only: [String]?
    /// The given names that the backup lacks, and that were removed; missing if there are none.
    var removed: [String]?
    var files: Int
    var bytes: Int64
    /// The number of stores; missing if they were not counted, as in another program's remote archive.
    var stores: Int?
    var safetyBackup: String?
    var dryRun: Bool
    var dataRead: Bool
    var problems: [Problem]
    /// The changes that a dry run found; missing if it did not compare.
    var changes: PreviewObject?
    private let preview: RestorePreview?
    private let outcome: RestoreBackup.Outcome
    private let wouldBackUp: Bool
    private let folder: String
    /// Whether the user's own commands start the application.
    private let startsApplication: Bool

    private enum CodingKeys: CodingKey {
        case messageType, name, path, origin, only, removed, files, bytes, stores, safetyBackup,
            dryRun,
            dataRead,
            problems
        case changes
    }

    init(
        _ outcome: RestoreBackup.Outcome,
        isDryRun: Bool,
        preview: RestorePreview?,
        _ invocation: Invocation
    ) {
        self.preview = isDryRun ? preview : nil
        changes = self.preview.map(PreviewObject.init)
        name = outcome.backup.name
        path = outcome.path
        origin = outcome.backup.originName
        only = outcome.only.isEmpty ? nil : outcome.only
        removed = outcome.removed.isEmpty ? nil : outcome.removed
        files = outcome.files
        bytes = outcome.bytes
        stores = outcome.stores
        safetyBackup = outcome.safetyBackup?.name
        dryRun = isDryRun
        dataRead = outcome.isDataRead
        problems = outcome.problems
        self.outcome = outcome
        let backups = outcome.backups.map { " (\(counted($0, "backup", "backups")))" } ?? ""
        folder =
            outcome.backup.isWaiting
            ? "the queue of this machine" : "'\(invocation.address)'\(backups)"
        startsApplication = !invocation.applicationCommands.start.isEmpty
        wouldBackUp =
            isDryRun && outcome.replacesData && invocation.profile.restore.makesSafetyBackup
    }

    /// The given names and the word "from", for a sentence.
    private var part: String {
        restored.isEmpty ? "" : "\(Self.names(restored)) from "
    }

    /// The given names that the backup has.
    private var restored: [String] {
        let removed = Set((removed ?? []).map(\.exact))
        return (only ?? []).filter { !removed.contains($0.exact) }
    }

    /// The removed names as a sentence; `nil` if there are none.
    private var removal: String? {
        removed.map { removed in
            let verb = removed.count == 1 ? "was" : "were"
            return
                "\(dryRun ? "would remove" : "removed") \(Self.names(removed)), which \(verb) not there before"
        }
    }

    private static func names(_ names: [String]) -> String {
        "'\(names.first ?? "")'" + (names.count > 1 ? " and \(names.count - 1) more" : "")
    }

    func write(to console: Console) {
        let isRestored = removed == nil || !restored.isEmpty
        let place = "\(part)'\(outcome.backup.displayName)' to '\(path)'"
        let counts = [
            counted(files, "file", "files"), byteCount(bytes),
            stores.map { counted($0, "store", "stores") },
        ]
        let what = counts.compactMap(\.self).joined(separator: ", ")
        guard !dryRun else {
            if isRestored { console.answer("would restore \(place): \(what)") }
            if let removal { console.answer(removal) }
            console.answer(lines: (preview?.lines ?? []).map { "  \($0)" })
            if !dataRead {
                console.message("its data was not fetched: 'grocerydude check' would read it")
            }
            if wouldBackUp { console.answer("would back up the present data first") }
            return
        }
        if isRestored {
            console.done("restored \(place)")
            console.message("\(what), from \(folder)")
        }
        if let removal { console.done(removal) }
        if let safety = outcome.safetyBackup {
            console.message(
                "the data from before is in '\(safety.displayName)': to undo, run \(UndoHint.command(safety, only: only ?? []))"
            )
        }
        guard outcome.replacesData else { return }
        for holder in outcome.stillOpen {
            console.message(
                "\(holder) still has a replaced store open: all that it writes is lost, so end it now"
            )
        }
        // The application may not use files that are no stores.
        if !startsApplication, only == nil || stores.map({ $0 > 0 }) ?? true {
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
