internal import Backups
internal import History
internal import Files

extension RunLog.Check.Depth: Encodable {}

/// A backup in a list.
struct BackupRow: AnswerRow {
    var name: String
    var displayName: String
    /// Whether a list for people shows the origin, because there are several.
    private var showsOrigin = false
    var size: Int64
    /// The bytes that it added to the backups before it, see `[Backup].added`.
    var added: Int64?
    var time: LocalTime?
    var timeSource: String?
    /// The reason for a safety backup.
    var reason: String?
    /// The kind: `full`, or `increment` for one that is built on others.
    var kind: String
    /// The names of the backups that an increment needs, as far as known.
    var needs: [String]
    /// Whether it is incomplete.
    var partial: Bool
    var anomaly: Bool
    var damaged: Bool
    /// Whether its archive is still being copied, or was cut off.
    var notReady: Bool
    /// The damage that a check or a glance found, on this or another machine.
    var damage: String?
    /// The system's reason why its archive could not be read here.
    var unread: String?
    var pinned: Bool
    var encrypted: Bool
    /// Whether no available key opened it, so that its content is unknown.
    var sealed: Bool
    /// Whether it waits on this machine until the remote folder can be reached.
    var waiting: Bool
    /// The name of the machine and the stores directory according to its manifest.
    var origin: String?
    /// Whether it is of this machine and stores directory.
    var own: Bool
    /// The name of the trusted machine that signed it.
    var signer: String?
    /// The reason why it does not count; `nil` if a trusted machine signed it.
    var distrust: String?
    var tags: [String]
    var note: String?
    /// The last check, or the last one whose reported damage is not refuted.
    var lastCheck: Check?
    /// The deepest check that found no damage.
    var deepestCheck: Check?

    /// The time and the depth of a check.
    struct Check: Encodable, CustomStringConvertible {
        var time: LocalTime
        var depth: RunLog.Check.Depth
        var part: String?
        var damage: String?

        init(_ check: RunLog.Check, _ invocation: Invocation) {
            time = invocation.local(check.time)
            depth = check.depth
            part = check.part?.description
            damage = check.damage
        }

        var description: String {
            "\(time.day) (\(part.map { "part \($0)" } ?? depth.rawValue))"
        }
    }

    private let distrustMark: String?

    private enum CodingKeys: CodingKey {
        case name, displayName, size, added, time, timeSource, reason, kind, needs, partial, anomaly
        case damaged, notReady, damage, unread, pinned, encrypted, sealed, waiting, origin, own
        case signer, distrust, tags, note
        case lastCheck, deepestCheck
    }

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
        name = backup.name
        displayName = backup.displayName
        size = backup.size
        time = backup.time.map(invocation.local)
        timeSource = backup.timeSource?.rawValue
        reason = backup.reason
        kind = backup.isIncrement ? "increment" : "full"
        needs = backup.needs.map(\.name)
        partial = backup.isPartial
        anomaly = backup.isAnomalous
        notReady = backup.trouble == .notReady
        damaged = backup.trouble == .damaged
        damage = damaged ? backup.damage : nil
        unread = backup.trouble == .unread ? backup.damage : nil
        pinned = backup.isPinned
        encrypted = backup.isEncrypted
        sealed = backup.isSealed
        waiting = backup.isWaiting
        origin = backup.originName
        self.own = own.has(backup) && backup.distrust == nil
        signer = backup.signer
        distrust = backup.distrust?.description
        distrustMark = backup.distrust?.mark
        tags = backup.tags
        note = backup.note
        lastCheck = (backup.checks.damaged ?? backup.checks.last).map { Check($0, invocation) }
        deepestCheck = backup.checks.deepest.map { Check($0, invocation) }
    }

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
        let (size, made) = (byteCount(size), time?.description ?? "unknown")
        if showsOrigin {
            return [displayName, size, made, printable(bytes: (origin ?? "unknown").utf8)]
        }
        let sum = added.map { "\($0 < 0 ? "-" : "+")\(byteCount(abs($0)))" }
        return [displayName, size, sum ?? "", made]
    }

    private var marks: String {
        var marks: [String] = []
        if let reason { marks.append(reason) }
        if !needs.isEmpty {
            marks.append("needs \(needs.count) more")
        } else if kind == "increment" {
            marks.append("increment")
        }
        if waiting { marks.append("waiting for upload") }
        if pinned { marks.append("pinned") }
        if encrypted { marks.append(sealed ? "encrypted, content unknown" : "encrypted") }
        if !tags.isEmpty { marks.append("[\(tags.joined(separator: ", "))]") }
        if let note { marks.append(note) }
        if let distrustMark, !sealed, !notReady, damage == nil, unread == nil {
            marks.append(distrustMark)
        }
        if partial { marks.append("partial") }
        if timeSource == Backup.TimeSource.file.rawValue { marks.append("time of its file") }
        if notReady { marks.append("not ready: \(Backup.notReady)") }
        if let unread { marks.append("cannot be read: \(unread)") }
        if anomaly { marks.append("much less than before") }
        if let lastCheck { marks.append(mark(of: lastCheck)) }
        if let damage, lastCheck?.damage == nil { marks.append("DAMAGED: \(damage)") }
        return marks.joined(separator: ", ")
    }

    /// Returns the known damage, or else the last check, and the deepest one if it is deeper.
    private func mark(of lastCheck: Check) -> String {
        if lastCheck.damage != nil { return "DAMAGED \(lastCheck)" }
        guard let deepestCheck, deepestCheck.depth > lastCheck.depth else {
            return "checked \(lastCheck)"
        }
        return "checked \(lastCheck), \(deepestCheck)"
    }
}
