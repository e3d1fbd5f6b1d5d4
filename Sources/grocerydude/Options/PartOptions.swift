public import ArgumentParser
public import Stores

extension RowReturn.Conflict: ExpressibleByArgument {}

/// The options for the part of a backup to restore: files and directories, or rows of a live store.
struct PartOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help:
            "Restore only these files, directories or stores, one or more, and leave all else as it is; or only rows of a table: 'store:table'."
            .value("path")
    )
    var only: [String] = []

    @Option(
        help:
            "Bring back only rows of this table or entity, into the store as it is now."
            .value("table")
    )
    var rows: String?

    @Option(
        name: .customLong("where"),
        help: "Only the rows that meet this SQL: \"name = 'Milk'\".".value("sql")
    )
    var condition: String?

    @Option(help: "With '--rows': the store that has the table.".value("path"))
    var store: String?

    @Option(help: "What to do if a row exists with other values.".value("how"))
    var onConflict: RowReturn.Conflict?

    /// Whether rows are restored, and not files.
    var isOfRows: Bool { rows != nil || !tables.isEmpty }

    /// The files and directories to restore; none for all.
    var paths: [String] { isOfRows ? [] : only }

    /// The given names that mean a table in a store; `./a:b` is a file with such a name.
    private var tables: [String] {
        only.filter { text in
            guard let colon = text.lastIndex(of: ":"), !text.hasPrefix("./") else { return false }
            let table = text[text.index(after: colon)...]
            return colon > text.startIndex && !table.isEmpty && !table.contains("/")
        }
    }

    /// The given name that is taken for a table in a store; `nil` if there is none.
    var table: String? { tables.first }

    /// The store, if it was named, and the table.
    var place: (store: String?, table: String) {
        guard let only = tables.first, let colon = only.lastIndex(of: ":") else {
            return (store, rows ?? "")
        }
        return (String(only[..<colon]), String(only[only.index(after: colon)...]))
    }

    /// Names all paths as a backup does; see `Invocation.inStores`.
    mutating func resolve(_ invocation: Invocation) throws {
        only = try only.map(invocation.inStores)
        store = try store.map(invocation.inStores)
    }

    func validate() throws {
        guard rows == nil || only.isEmpty else {
            throw ValidationError("'--rows' and '--only' exclude each other")
        }
        guard tables.isEmpty || only.count == 1 else {
            throw ValidationError(
                "'\(tables[0])' is a table in a store, which comes back by itself; a file of that name is './\(tables[0])'"
            )
        }
        guard isOfRows || condition == nil && store == nil && onConflict == nil else {
            throw ValidationError(
                "'--where', '--store' and '--on-conflict' go with rows: '--rows table', or '--only store:table'"
            )
        }
        guard store == nil || only.isEmpty else {
            throw ValidationError("'--store' goes with '--rows'")
        }
    }
}
