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
    /// The number of columns for the names of all backups that are checked in one run.
    private let nameWidth: Int

    private enum CodingKeys: String, CodingKey {
        case name, displayName, time, good, depth, part, damage, remarks, error, compared
        case externalReferences
    }

    /// The kind of the compared hash, or "size".
    var compared: String?

    /// - Parameters:
    ///   - result: the result of the check.
    ///   - nameWidth: see `width`.
    ///   - invocation: the command's invocation.
    init(_ result: CheckBackups.Result, nameWidth: Int, _ invocation: Invocation) {
        self.nameWidth = nameWidth
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
        switch result.comparison {
        case .hash(let kind): compared = kind
        case .size: compared = "size"
        case .nothing(let reason): error = reason
        case nil: break
        }
    }

    /// Returns the number of columns for the names of backups.
    static func width(of backups: [Backup]) -> Int {
        backups.map { Columns.width(of: $0.displayName) }.max() ?? 0
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
        let space = nameWidth - Columns.width(of: displayName)
        return "\(displayName)\(String(repeating: " ", count: max(space, 0)))  \(text)"
    }

    static func write(_ rows: [CheckRow], to console: Console) {
        for row in rows {
            if row.good {
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
