internal import Backups
internal import History
internal import Files

extension RunLog.Check.Depth: Encodable {}

/// A backup in a list.
struct BackupRow: AnswerRow, JSONConvertible {
    let backup: Backup
    /// Whether it is of this machine and stores directory.
    private let isOwn: Bool
    private let invocation: Invocation
    /// Whether a list for people shows the origin, because there are several.
    private var showsOrigin = false
    /// The bytes that it added to the backups before it, see `[Backup].added`.
    private var added: Int64?

    /// Returns the rows of a list in which no two backups look the same.
    ///
    /// - Parameters:
    ///   - backups: the backups, newest first.
    ///   - all: those of them and of others with which each is compared.
    ///   - invocation: the command's invocation.
    /// - Returns: a row for each backup.
    static func rows(
        _ backups: [Backup],
        among all: [Backup],
        _ invocation: Invocation
    ) -> [BackupRow] {
        let added = Dictionary(zip(all.map(\.name.exact), all.added)) { first, _ in first }
        let (own, origins) = (invocation.origin, Set(backups.map { $0.origin ?? "" }))
        return backups.map { backup in
            var row = BackupRow(backup, own, invocation)
            row.added = added[backup.name.exact] ?? nil
            row.showsOrigin = origins.count > 1
            return row
        }
    }

    /// Describes a backup.
    ///
    /// `own` is this machine and stores directory; finding it takes a look at the disk.
    init(_ backup: Backup, _ own: Backups.Origin, _ invocation: Invocation) {
        (self.backup, self.invocation) = (backup, invocation)
        isOwn = own.has(backup) && backup.distrust == nil
    }

    var json: JSONObject {
        [
            "name": backup.name, "displayName": backup.displayName, "size": backup.size,
            "added": added, "time": backup.time.map(invocation.local),
            "timeSource": backup.timeSource?.rawValue, "reason": backup.reason,
            "kind": backup.isIncrement ? "increment" : "full", "needs": backup.needs.map(\.name),
            "partial": backup.isPartial, "anomaly": backup.isAnomalous,
            "damaged": backup.trouble == .damaged, "notReady": backup.trouble == .notReady,
            "damage": damage, "unread": unread, "pinned": backup.isPinned,
            "encrypted": backup.isEncrypted, "sealed": backup.isSealed, "waiting": backup.isWaiting,
            "origin": backup.originName, "own": isOwn, "signer": backup.signer,
            "distrust": backup.distrust?.description, "tags": backup.tags, "note": backup.note,
            "lastCheck": lastCheck.map(json), "deepestCheck": backup.checks.deepest.map(json),
        ]
    }

    private func json(_ check: RunLog.Check) -> JSONObject {
        [
            "time": invocation.local(check.time), "depth": check.depth,
            "part": check.part?.description, "damage": check.damage,
        ]
    }

    /// The damage that a check or a glance found, on this or another machine.
    private var damage: String? { backup.trouble == .damaged ? backup.damage : nil }
    /// The system's reason why its archive could not be read here.
    private var unread: String? { backup.trouble == .unread ? backup.damage : nil }
    /// The last check, or the last one whose reported damage is not refuted.
    private var lastCheck: RunLog.Check? { backup.checks.damaged ?? backup.checks.last }

    /// Writes a header and a line for each backup; remarks that do not fit 80 columns get a line of their own.
    static func write(_ rows: [BackupRow], to console: Console) {
        guard let first = rows.first else { return }
        let header = first.showsOrigin ? ["SIZE", "MADE", "ORIGIN"] : ["SIZE", "ADDED", "MADE"]
        let numbers: Set = first.showsOrigin ? [1] : [1, 2]
        let cells = [["BACKUP"] + header] + rows.map(\.columns)
        let width = Columns(rows: cells, right: numbers).lines.map(Columns.width).max() ?? 0
        let marks = [""] + rows.map(\.marks)
        let isBeside = marks.map { $0.isEmpty || width + 2 + Columns.width(of: $0) <= 80 }
        let beside = zip(marks, isBeside).map { $1 ? $0 : "" }
        let lines = Columns(rows: zip(cells, beside).map { $0 + [$1] }, right: numbers).lines
        for (index, line) in lines.enumerated() {
            console.answer(line)
            if !isBeside[index] { console.answer(columns: Columns(rows: [["  ", marks[index]]])) }
        }
    }

    /// The cells of its row where a person chooses from several.
    var cells: [String] { columns + [marks] }

    /// The columns before the marks; both an origin and an increase have no room in 80 columns.
    private var columns: [String] {
        let made = backup.time.map { invocation.local($0).description } ?? "unknown"
        let (name, size) = (backup.displayName, byteCount(backup.size))
        if showsOrigin {
            return [name, size, made, printable(bytes: (backup.originName ?? "unknown").utf8)]
        }
        let sum = added.map { "\($0 < 0 ? "-" : "+")\(byteCount(abs($0)))" }
        return [name, size, sum ?? "", made]
    }

    private var marks: String {
        var marks: [String] = []
        if let reason = backup.reason { marks.append(reason) }
        if !backup.needs.isEmpty {
            marks.append("needs \(backup.needs.count) more")
        } else if backup.isIncrement {
            marks.append("increment")
        }
        if backup.isWaiting { marks.append("waiting for upload") }
        if backup.isPinned { marks.append("pinned") }
        if backup.isEncrypted {
            marks.append(backup.isSealed ? "encrypted, content unknown" : "encrypted")
        }
        if !backup.tags.isEmpty { marks.append("[\(backup.tags.joined(separator: ", "))]") }
        if let note = backup.note { marks.append(note) }
        let isNotReady = backup.trouble == .notReady
        if let distrust = backup.distrust, !backup.isSealed, !isNotReady, damage == nil,
            unread == nil
        {
            marks.append(distrust.mark)
        }
        if backup.isPartial { marks.append("partial") }
        if backup.timeSource == .file { marks.append("time of its file") }
        if isNotReady { marks.append("not ready: \(Backup.notReady)") }
        if let unread { marks.append("cannot be read: \(unread)") }
        if backup.isAnomalous { marks.append("much less than before") }
        if let lastCheck { marks.append(mark(of: lastCheck)) }
        if let damage, lastCheck?.damage == nil { marks.append("DAMAGED: \(damage)") }
        return marks.joined(separator: ", ")
    }

    /// Returns the known damage, or else the last check, and the deepest one if it is deeper.
    private func mark(of lastCheck: RunLog.Check) -> String {
        if lastCheck.damage != nil { return "DAMAGED \(text(lastCheck))" }
        guard let deepest = backup.checks.deepest, deepest.depth > lastCheck.depth else {
            return "checked \(text(lastCheck))"
        }
        return "checked \(text(lastCheck)), \(text(deepest))"
    }

    /// Returns the day and the depth of a check.
    private func text(_ check: RunLog.Check) -> String {
        let depth = check.part.map { "part \($0)" } ?? check.depth.rawValue
        return "\(invocation.local(check.time).day) (\(depth))"
    }
}
