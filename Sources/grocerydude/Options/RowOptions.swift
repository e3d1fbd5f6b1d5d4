public import ArgumentParser
public import Stores

extension RowReturn.Conflict: ExpressibleByArgument {}

/// Which rows of a backup come back into a live store.
struct RowOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Bring only rows of this table back, or of this entity, into the store as it is now.",
            valueName: "table"
        )
    )
    var rows: String?

    @Option(
        name: .customLong("only"),
        help: ArgumentHelp("The same, with the store's path before it.", valueName: "store:table")
    )
    var only: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only the rows that meet this, in SQL: \"name = 'Milk'\".",
            valueName: "sql"
        )
    )
    var condition: String?

    @Option(help: ArgumentHelp("With '--rows': the store that has the table.", valueName: "path"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "For rows that are there with other values: \(RowReturn.Conflict.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "how"
        )
    )
    var onConflict: RowReturn.Conflict?

    /// Whether rows are meant, and not all of the backup.
    var isGiven: Bool { rows != nil || only != nil }

    /// The store, if it was named, and the table.
    var place: (store: String?, table: String) {
        guard let only, let colon = only.lastIndex(of: ":") else { return (store, rows ?? "") }
        return (String(only[..<colon]), String(only[only.index(after: colon)...]))
    }

    func validate() throws {
        guard rows == nil || only == nil else {
            throw ValidationError("'--rows' and '--only' exclude each other")
        }
        guard only.map({ $0.contains(":") && !$0.hasPrefix(":") && !$0.hasSuffix(":") }) ?? true
        else { throw ValidationError("'--only' takes a store and a table: 'Store.sqlite:table'") }
        guard isGiven || condition == nil && store == nil && onConflict == nil else {
            throw ValidationError("'--where', '--store' and '--on-conflict' go with '--rows'")
        }
        guard store == nil || only == nil else {
            throw ValidationError("'--store' goes with '--rows'")
        }
    }
}
