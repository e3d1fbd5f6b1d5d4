internal import ArgumentParser
internal import Files
internal import Operations
internal import Stores

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the backups, newest first.",
        discussion: """
            EXAMPLE
              grocerydude list --remote /mnt/nas/backups

            \(ExitStatus.help)
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "List the deleted backups that can come back.")
    var trash = false

    func run() async throws {
        try await Session.run(output, stores, remote, needsWholeStores: false) { session in
            if trash { return try await listTrash(session) }
            let outcome = try await ListBackups(
                in: session.remote(),
                catalog: session.catalog,
                timeZone: session.timeZone
            ).run()
            let checks = session.checkHistories(of: outcome.backups)
            if output.json {
                try session.console.answer(
                    json: outcome.backups.map {
                        Row($0, checks[$0.name], session)
                    }
                )
            } else {
                let width = outcome.backups.map(\.displayName.count).max() ?? 0
                session.console.answer(
                    lines: outcome.backups.map { line($0, checks[$0.name], width, session) }
                )
                if outcome.backups.isEmpty { session.console.message("there are no backups yet") }
            }
            if let error = outcome.annotationsError {
                session.context.report(.warning(explain(error)))
            }
            if output.verbose {
                for file in outcome.passedOver {
                    session.console.message("passed over '\(file.name)': \(file.reason)")
                }
            }
            return .done
        }
    }

    private func listTrash(_ session: Session) async throws -> ExitStatus {
        let trash = try await DeleteBackup(
            from: session.remote(),
            catalog: session.catalog,
            timeZone: session.timeZone,
            context: session.context
        ).trash()
        if output.json {
            try session.console.answer(json: trash.map { TrashRow($0, session) })
            return .done
        }
        for backup in trash {
            session.console.answer(
                "\(backup.displayName)  \(byteCount(backup.size))  deleted \(session.text(backup.deleted))"
            )
        }
        if trash.isEmpty { session.console.message("there are no deleted backups") }
        return .done
    }

    /// What there is to say of a backup besides, in brackets and words.
    private func marks(
        _ backup: Backup,
        _ checks: CheckHistory?,
        _ session: Session
    ) -> String {
        var marks: [String] = []
        if backup.isPinned { marks.append("pinned") }
        if !backup.tags.isEmpty { marks.append("[\(backup.tags.joined(separator: ", "))]") }
        if let note = backup.note { marks.append(printable(bytes: note.utf8)) }
        if backup.isAnomalous { marks.append("much less than before") }
        if backup.isDamaged { marks.append("cannot be read") }
        marks += checkMarks(checks, session)
        return marks.isEmpty ? "" : "  " + marks.joined(separator: ", ")
    }

    /// The damage that is known; else the last check, and the last one that went deeper.
    private func checkMarks(_ history: CheckHistory?, _ session: Session) -> [String] {
        func text(_ check: RunLog.Check) -> String {
            "\(session.text(check.time).prefix(10)) (\(check.part.map { "part \($0)" } ?? check.depth.rawValue))"
        }
        if let damaged = history?.damaged { return ["DAMAGED \(text(damaged))"] }
        guard let last = history?.last else { return [] }
        let deepest = history?.deepest.flatMap { $0.depth > last.depth ? ", \(text($0))" : nil }
        return ["checked \(text(last))\(deepest ?? "")"]
    }

    private func line(
        _ backup: Backup,
        _ checks: CheckHistory?,
        _ width: Int,
        _ session: Session
    ) -> String {
        let size = byteCount(backup.size)
        let name =
            backup.displayName + String(repeating: " ", count: width - backup.displayName.count)
        return
            "\(name)  \(String(repeating: " ", count: max(0, 12 - size.count)))\(size)  \(session.text(backup.time))\(marks(backup, checks, session))"
    }

    /// A backup in JSON.
    struct Row: Encodable {
        var name: String
        var displayName: String
        var size: Int64
        var time: String?
        var timeSource: String?
        var anomaly: Bool
        var damaged: Bool
        var pinned: Bool
        var tags: [String]
        var note: String?
        /// The last check, or the one whose finding of damage stands.
        var lastCheck: Check?
        /// The deepest that found it whole.
        var deepestCheck: Check?

        /// When and how deeply it was checked.
        struct Check: Encodable {
            var time: String
            var depth: String
            var part: String?
            var damage: String?

            init(_ check: RunLog.Check, _ session: Session) {
                time = RFC3339.text(check.time, in: session.timeZone)
                depth = check.depth.rawValue
                part = check.part?.description
                damage = check.damage
            }
        }

        init(_ backup: Backup, _ checks: CheckHistory?, _ session: Session) {
            name = backup.name
            displayName = backup.displayName
            size = backup.size
            time = backup.time.map { RFC3339.text($0, in: session.timeZone) }
            timeSource = backup.timeSource?.rawValue
            anomaly = backup.isAnomalous
            damaged = backup.isDamaged
            pinned = backup.isPinned
            tags = backup.tags
            note = backup.note
            lastCheck = (checks?.damaged ?? checks?.last).map { Check($0, session) }
            deepestCheck = checks?.deepest.map { Check($0, session) }
        }
    }
}
