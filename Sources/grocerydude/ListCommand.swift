internal import ArgumentParser
internal import Operations

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

    func run() async throws {
        try await Session.run(output, stores, remote, needsWholeStores: false) { session in
            let outcome = try await ListBackups(
                in: session.remote(),
                catalog: session.catalog,
                timeZone: session.timeZone
            ).run()
            if output.json {
                try session.console.answer(json: outcome.backups.map { Row($0, session) })
            } else {
                let width = outcome.backups.map(\.displayName.count).max() ?? 0
                for backup in outcome.backups {
                    session.console.answer(line(backup, width: width, session))
                }
                if outcome.backups.isEmpty { session.console.message("there are no backups yet") }
            }
            if output.verbose {
                for file in outcome.passedOver {
                    session.console.message("passed over '\(file.name)': \(file.reason)")
                }
            }
            return .done
        }
    }

    private func line(_ backup: Backup, width: Int, _ session: Session) -> String {
        let size = byteCount(backup.size)
        let name =
            backup.displayName + String(repeating: " ", count: width - backup.displayName.count)
        let mark = backup.isAnomalous ? "  much less than before" : ""
        return
            "\(name)  \(String(repeating: " ", count: max(0, 12 - size.count)))\(size)  \(session.text(backup.time))\(mark)"
    }

    /// A backup in JSON.
    struct Row: Encodable {
        var name: String
        var displayName: String
        var size: Int64
        var time: String?
        var timeSource: String?
        var anomaly: Bool

        init(_ backup: Backup, _ session: Session) {
            name = backup.name
            displayName = backup.displayName
            size = backup.size
            time = backup.time.map { RFC3339.text($0, in: session.timeZone) }
            timeSource = backup.timeSource?.rawValue
            anomaly = backup.isAnomalous
        }
    }
}
