internal import History
internal import Files
internal import Backups
internal import Operations

/// The result of checking a backup.
struct CheckRow: AnswerRow {
    var name: String
    var displayName: String
    var time: LocalTime?
    var good: Bool
    var depth: String
    var part: String?
    var damage: [String]
    var remarks: [String]
    var error: String?
    /// The number of external files that rows refer to.
    ///
    /// All exist unless `damage` or `remarks` report otherwise.
    var externalReferences: Int?
    private let missingReferences: Int
    /// The findings about what was looked at, by its name.
    var lookedAt: [String: String]
    private let form: Form

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

    private enum CodingKeys: String, CodingKey {
        case name, displayName, time, good, depth, part, damage, remarks, error, compared
        case externalReferences, lookedAt
    }

    /// The kind of the compared hash, or "size".
    var compared: String?

    /// - Parameters:
    ///   - result: the result of the check.
    ///   - form: the form for people.
    ///   - invocation: the command's invocation.
    init(_ result: CheckBackups.Result, in form: Form, _ invocation: Invocation) {
        self.form = form
        name = result.backup.name
        displayName = result.backup.displayName
        time = result.backup.time.map(invocation.local)
        good = result.isGood
        depth = result.comparison == nil ? result.depth.rawValue : "quick"
        part = result.part?.description
        damage = result.damage
        remarks = result.remarks
        error = result.failure.map(explain)
        externalReferences = result.externalReferences
        missingReferences = result.missingReferences
        lookedAt = Dictionary(
            uniqueKeysWithValues: result.findings.map { ($0.rawValue, $1.rawValue) }
        )
        switch result.comparison {
        case .hash(let kind): compared = kind
        case .size: compared = "size"
        case .nothing(let reason): error = reason
        case nil: break
        }
    }

    /// The numbers of files that rows refer to, and of missing ones.
    private var closure: String {
        guard let count = externalReferences, count > 0 else { return "" }
        let files = counted(count, "file", "files")
        return missingReferences == 0
            ? "  (with the \(files) that rows refer to)"
            : "  (without \(missingReferences) of the \(files) that rows refer to)"
    }

    /// Returns the backup's name with a text in the next column.
    private func line(_ text: String) -> String {
        form.line(displayName, []) + "  \(text)"
    }

    /// The line of a table: what was looked at, and whether it is well; a dash for all else.
    private var tableLine: String {
        let cells = CheckBackups.Aspect.allCases.map { aspect in
            switch lookedAt[aspect.rawValue].flatMap(CheckBackups.Finding.init(rawValue:)) {
            case .damaged: "DAMAGED"
            case .part where aspect == .contents: part.map { "part \($0)" } ?? "part"
            case let finding?: finding.rawValue
            case nil: "-"
            }
        }
        return form.line(displayName, cells + [!good ? "no" : part == nil ? "yes" : "part"])
    }

    static func write(_ rows: [CheckRow], to console: Console) {
        for row in rows {
            if row.form.isTable, row.error == nil {
                console.done(row.tableLine)
            } else if row.good {
                let part = row.part.map { "  (part \($0))" } ?? ""
                let word =
                    row.compared.map { "as uploaded  (\($0))" } ?? "whole\(part)\(row.closure)"
                console.done(row.line(word))
            }
            for remark in row.remarks { console.done(row.line("note  \(remark)")) }
            for damage in row.damage { console.answer(row.line("DAMAGED  \(damage)")) }
            if let error = row.error { console.answer(row.line("not checked  \(error)")) }
        }
    }
}

extension CheckBackups.Aspect {
    /// The title of its column.
    fileprivate var title: String { self == .signature ? "SIGNED" : rawValue.uppercased() }
}
