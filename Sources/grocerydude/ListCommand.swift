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
            let checks = session.lastChecks()
            if output.json {
                try session.console.answer(
                    json: outcome.backups.map {
                        Row($0, session.lastCheck(of: $0, in: checks), session)
                    }
                )
            } else {
                let width = outcome.backups.map(\.displayName.count).max() ?? 0
                for backup in outcome.backups {
                    session.console.answer(
                        line(backup, session.lastCheck(of: backup, in: checks), width, session)
                    )
                }
                if outcome.backups.isEmpty { session.console.message("there are no backups yet") }
            }
            if let error = outcome.annotationsError {
                session.console.message("warning: \(explain(error))")
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
        _ check: RunLog.Check?,
        _ session: Session
    ) -> String {
        var marks: [String] = []
        if backup.isPinned { marks.append("pinned") }
        if !backup.tags.isEmpty { marks.append("[\(backup.tags.joined(separator: ", "))]") }
        if let note = backup.note { marks.append(printable(bytes: note.utf8)) }
        if backup.isAnomalous { marks.append("much less than before") }
        if backup.isDamaged { marks.append("cannot be read") }
        if let check {
            let what = check.damage == nil ? "checked" : "DAMAGED"
            marks.append("\(what) \(session.text(check.time).prefix(10)) (\(check.depth.rawValue))")
        }
        return marks.isEmpty ? "" : "  " + marks.joined(separator: ", ")
    }

    private func line(
        _ backup: Backup,
        _ check: RunLog.Check?,
        _ width: Int,
        _ session: Session
    ) -> String {
        let size = byteCount(backup.size)
        let name =
            backup.displayName + String(repeating: " ", count: width - backup.displayName.count)
        return
            "\(name)  \(String(repeating: " ", count: max(0, 12 - size.count)))\(size)  \(session.text(backup.time))\(marks(backup, check, session))"
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
        var lastCheck: LastCheck?

        /// When and how deeply it was checked last.
        struct LastCheck: Encodable {
            var time: String
            var depth: String
            var damage: String?
        }

        init(_ backup: Backup, _ check: RunLog.Check?, _ session: Session) {
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
            lastCheck = check.map {
                LastCheck(
                    time: RFC3339.text($0.time, in: session.timeZone),
                    depth: $0.depth.rawValue,
                    damage: $0.damage
                )
            }
        }
    }
}
