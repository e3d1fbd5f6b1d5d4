internal import ArgumentParser
internal import Operations

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what is inside a backup, without extracting it.",
        discussion: """
            A backup is named by its file name, its display name, any unique part of it, or 'latest'.

            EXAMPLE
              grocerydude show latest

            \(ExitStatus.help)
            """
    )

    @Argument(help: "The backup's name, or 'latest'.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Session.run(output, stores, remote, needsWholeStores: false) { session in
            let outcome = try await ShowBackup(
                in: session.remote(),
                catalog: session.catalog,
                timeZone: session.timeZone,
                context: session.context
            ).run(name, now: session.now)
            session.console.finish()
            if output.json {
                try session.console.answer(json: Contents(outcome, session))
            } else {
                for line in lines(outcome, session) { session.console.answer(line) }
            }
            return .done
        }
    }

    private func lines(_ outcome: ShowBackup.Outcome, _ session: Session) -> [String] {
        var lines = [
            outcome.backup.name,
            "made    \(session.text(outcome.backup.time)) by \(outcome.header?.tool ?? "another program")",
            "size    \(byteCount(outcome.backup.size)), \(byteCount(outcome.bytes)) unpacked",
        ]
        if let reason = outcome.header?.reason { lines.append("reason  \(reason)") }
        for problem in outcome.problems { lines.append("problem \(problem)") }
        for store in outcome.header?.stores ?? [] {
            let kind = store.kind == "core_data" ? "Core Data store" : "SQLite store"
            lines += [
                "", "\(store.path)  (\(kind), \(store.pageCount) pages of \(store.pageSize) bytes)",
            ]
            let width = store.tables.map(\.name.count).max() ?? 0
            for table in store.tables {
                let rows = table.rows.map { "\($0) rows" } ?? "rows cannot be counted"
                lines.append("  \(table.name.padded(to: width))  \(rows)")
            }
        }
        lines.append("")
        for file in outcome.files {
            let size = file.type == "file" ? byteCount(file.size) : file.type
            lines.append(
                "\(file.mode)  \(size.padded(to: 12, atStart: true))  \(session.text(file.modified))  \(file.path)"
            )
        }
        return lines
    }

    /// The answer in JSON.
    private struct Contents: Encodable {
        var name: String
        var displayName: String
        var time: String?
        var tool: String?
        var reason: String?
        var format: Int?
        var size: Int64
        var bytes: Int64
        var stores: [ManifestHeader.StoreRecord]
        var problems: [Problem]
        var files: [File]

        struct File: Encodable {
            var path: String
            var type: String
            var size: Int64
            var compressedSize: Int64
            var modified: String
            var mode: String
        }

        init(_ outcome: ShowBackup.Outcome, _ session: Session) {
            name = outcome.backup.name
            displayName = outcome.backup.displayName
            time = outcome.backup.time.map { RFC3339.text($0, in: session.timeZone) }
            tool = outcome.header?.tool
            reason = outcome.header?.reason
            format = outcome.header?.format
            size = outcome.backup.size
            bytes = outcome.bytes
            stores = outcome.header?.stores ?? []
            problems = outcome.problems
            files = outcome.files.map { file in
                File(
                    path: file.path,
                    type: file.type,
                    size: file.size,
                    compressedSize: file.compressedSize,
                    modified: RFC3339.text(file.modified, in: session.timeZone),
                    mode: file.mode
                )
            }
        }
    }
}

extension String {
    /// The text with spaces up to a width.
    func padded(to width: Int, atStart: Bool = false) -> String {
        let spaces = String(repeating: " ", count: Swift.max(0, width - count))
        return atStart ? spaces + self : self + spaces
    }
}
