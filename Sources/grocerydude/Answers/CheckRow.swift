internal import History
internal import Files
internal import Backups
internal import Operations

/// The result of checking a backup.
struct CheckRow: AnswerRow, JSONConvertible {
    let result: CheckBackups.Result
    let form: Form
    let invocation: Invocation

    /// The form for people of all backups that are checked in one run.
    struct Form {
        /// The number of columns for their names.
        fileprivate var nameWidth: Int
        /// Whether there is a table of what was looked at.
        fileprivate var isTable: Bool

        init(of backups: [Backup], isQuick: Bool = false) {
            nameWidth = backups.map { Columns.width(of: $0.displayName) }.max() ?? 0
            isTable = backups.count > 1 && !isQuick
        }

        /// The titles of the columns; `nil` if there is no table.
        var header: String? {
            isTable ? line("BACKUP", CheckBackups.Aspect.allCases.map(\.title) + ["WHOLE"]) : nil
        }

        /// Returns a line of a name and cells.
        fileprivate func line(_ name: String, _ cells: [String]) -> String {
            let widths = [nameWidth] + CheckBackups.Aspect.allCases.map { max(7, $0.title.count) }
            let padded = zip([name] + cells, widths).map { cell, width in
                let space = max(width - Columns.width(of: cell), 0)
                return cell + String(repeating: " ", count: space)
            }
            return (padded + cells.dropFirst(padded.count - 1)).joined(separator: "  ")
        }
    }

    var json: JSONObject {
        let backup = result.backup
        return [
            "name": backup.name, "displayName": backup.displayName,
            "time": backup.time.map(invocation.local), "good": result.isGood,
            "depth": result.comparison == nil ? result.depth.rawValue : "quick", "part": part,
            "damage": result.damage, "remarks": result.remarks, "error": error,
            "compared": compared, "externalReferences": result.externalReferences,
            "lookedAt": Dictionary(
                uniqueKeysWithValues: result.findings.map { ($0.rawValue, $1.rawValue) }
            ),
        ]
    }

    private var part: String? { result.part?.description }

    /// The reason why it could not be checked.
    private var error: String? {
        if case .nothing(let reason) = result.comparison { return reason }
        return result.failure.map(explain)
    }

    /// The kind of the compared hash, or "size".
    private var compared: String? {
        switch result.comparison {
        case .hash(let kind): kind
        case .size: "size"
        case .nothing, nil: nil
        }
    }

    /// The numbers of files that rows refer to, and of missing ones.
    private var closure: String {
        guard let count = result.externalReferences, count > 0 else { return "" }
        let files = counted(count, "file", "files")
        let missing = result.missingReferences
        return missing == 0
            ? "  (with the \(files) that rows refer to)"
            : "  (without \(missing) of the \(files) that rows refer to)"
    }

    /// Returns the backup's name with a text in the next column.
    private func line(_ text: String) -> String {
        form.line(result.backup.displayName, []) + "  \(text)"
    }

    /// The line of a table: what was looked at, and whether it is well; a dash for all else.
    private var tableLine: String {
        let cells = CheckBackups.Aspect.allCases.map { aspect in
            switch result.findings[aspect] {
            case .damaged: "DAMAGED"
            case .part where aspect == .contents: part.map { "part \($0)" } ?? "part"
            case let finding?: finding.rawValue
            case nil: "-"
            }
        }
        let whole = !result.isGood ? "no" : part == nil ? "yes" : "part"
        return form.line(result.backup.displayName, cells + [whole])
    }

    static func write(_ rows: [CheckRow], to console: Console) {
        for row in rows {
            if row.form.isTable, row.error == nil {
                console.done(row.tableLine)
            } else if row.result.isGood {
                let part = row.part.map { "  (part \($0))" } ?? ""
                let word =
                    row.compared.map { "as uploaded  (\($0))" } ?? "whole\(part)\(row.closure)"
                console.done(row.line(word))
            }
            for remark in row.result.remarks { console.done(row.line("note  \(remark)")) }
            for damage in row.result.damage { console.answer(row.line("DAMAGED  \(damage)")) }
            if let error = row.error { console.answer(row.line("not checked  \(error)")) }
        }
    }
}

extension CheckBackups.Aspect {
    /// The title of its column.
    fileprivate var title: String { self == .signature ? "SIGNED" : rawValue.uppercased() }
}
