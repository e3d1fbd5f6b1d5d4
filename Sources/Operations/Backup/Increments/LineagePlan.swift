internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
public import SystemPackage

/// The place of a new backup in its lineage: a full backup, or an increment on an earlier one.
///
/// The nth increment is built on the one whose number has one bit less. So it needs at most 1 + log2(n) others, and
/// half of all increments are needed by no other. These are the skip-deltas of Subversion
/// (https://svn.apache.org/repos/asf/subversion/trunk/notes/skip-deltas).
struct LineagePlan {
    /// The greatest number of backups that one may need.
    private static let needsLimit = 12
    /// The limit of numbers: the state stores a number in two bytes, and a chain of weeks has hundreds.
    private static let numbersLimit = 4096

    /// The id of the lineage, for this machine, stores directory and folder.
    var lineage: String
    /// The backup's number; 0 for a full backup.
    var number = 0
    /// The base backups, the full one first; empty for a full backup.
    var needs: [BackupState.Made] = []
    var hasher: (Int) -> SectorHasher

    var isIncrement: Bool { !needs.isEmpty }

    /// The number of the backup that it is built on; less than every number for a full backup.
    var base: Int { needs.last?.number ?? -1 }

    /// The size of an increment, in bytes, from which a full backup is as good.
    var sizeLimit: Int64 { (needs.first?.size ?? .max) / 2 }

    /// Chooses the place of the next backup.
    ///
    /// - Parameters:
    ///   - state: the state of the last backups; it gets a lineage if it has none.
    ///   - backups: the backups of the folder.
    ///   - options: the options of the backup.
    ///   - date: the current time.
    /// - Throws: `HistoryError`.
    init(
        _ state: BackupState,
        among backups: [Backup],
        _ options: IncrementOptions,
        at date: Date
    ) throws {
        let secret: [UInt8]
        if let known = try state.text("lineage"), let text = try state.text("secret"),
            let bytes = Data(base64Encoded: text), bytes.count == SectorHasher.secretLength
        {
            (lineage, secret) = (known, Array(bytes))
        } else {
            lineage = BackupID.random().rawValue
            secret = (0..<SectorHasher.secretLength).map { _ in .random(in: .min ... .max) }
            try state.clear()
            try state.set("lineage", lineage)
            try state.set("secret", Data(secret).base64EncodedString())
        }
        hasher = { SectorHasher(sectorSize: $0, secret: secret) }
        let place = try Self.place(in: lineage, state, among: backups, options, at: date)
        if let place { (number, needs) = place }
    }

    /// Chooses the place of the next backup among the others.
    ///
    /// - Parameters:
    ///   - lineage: the id of the lineage.
    ///   - state: the state of the last backups, which is only read.
    ///   - backups: the backups of the folder.
    ///   - options: the options of the backup.
    ///   - date: the current time.
    /// - Returns: the number and the needs of the next increment; `nil` if a full backup is due.
    /// - Throws: `HistoryError`.
    static func place(
        in lineage: String,
        _ state: BackupState,
        among backups: [Backup],
        _ options: IncrementOptions,
        at date: Date
    ) throws -> (number: Int, needs: [BackupState.Made])? {
        guard !options.isFull else { return nil }
        let made = try state.made()
        guard let full = made.first, full.base == nil, let last = made.last,
            last.number + 1 < numbersLimit, full.size >= options.leastFullSize,
            made.dropFirst().reduce(0, { $0 + $1.size }) <= full.size,
            let age = Timestamp.date(rfc3339: full.created).map(date.timeIntervalSince),
            (0..<min(options.fullEvery, IncrementOptions.mostFullEvery).inSeconds).contains(age)
        else { return nil }
        let next = last.number + 1
        let chains = usableChains(of: lineage, made, among: backups)
        let candidates = chains.keys.filter { $0 <= next & (next - 1) }.sorted(by: >)
        return candidates.lazy.compactMap { chains[$0] }.first.map { (next, $0) }
    }

    /// Returns the backups that can be built on, by number, each after all its base backups.
    private static func usableChains(
        of lineage: String,
        _ made: [BackupState.Made],
        among backups: [Backup]
    ) -> [Int: [BackupState.Made]] {
        let wholes = backups.filter {
            !$0.isIncrement && $0.lineage == lineage && $0.damage == nil
        }
        let listed = Dictionary(backups.map { ($0.name.exact, $0) }) { first, _ in first }
        // A backup of the same minute may have replaced another, and taken its name.
        let numbers = Dictionary(made.map { ($0.name.exact, $0.number) }, uniquingKeysWith: max)
        var chains: [Int: [BackupState.Made]] = [:]
        for backup in made {
            if let whole = whole(inPlaceOf: backup, among: wholes) {
                chains[backup.number] = [whole]
                continue
            }
            guard let there = listed[backup.name.exact], there.size == backup.size,
                there.damage == nil, numbers[backup.name.exact] == backup.number
            else { continue }
            guard let base = backup.base else {
                chains[backup.number] = [backup]
                continue
            }
            if let chain = chains[base], chain.count < needsLimit {
                chains[backup.number] = chain + [backup]
            }
        }
        return chains
    }

    /// Returns the full backup made from an increment, as a base for others; `nil` if there is none.
    private static func whole(
        inPlaceOf increment: BackupState.Made,
        among wholes: [Backup]
    ) -> BackupState.Made? {
        guard increment.base != nil else { return nil }
        let time = Timestamp.date(rfc3339: increment.created)
        return wholes.first { $0.number == increment.number && $0.time == time }.map { whole in
            var made = increment
            (made.name, made.size, made.base) = (whole.name, whole.size, nil)
            return made
        }
    }

    /// Records the place in a manifest's first line.
    func mark(_ header: inout ManifestHeader) {
        header.lineage = lineage
        header.number = number
        guard isIncrement else { return }
        header.format = ManifestHeader.currentFormat
        header.needs = needs.map {
            Need(
                name: $0.name,
                size: $0.size,
                created: $0.created,
                number: $0.number,
                state: $0.state
            )
        }
    }
}

/// The options of a backup that may be an increment.
public struct IncrementOptions: Sendable {
    /// The database with the state of the last backups; if it is lost, a full backup is made.
    public var statePath: FilePath
    /// Whether to make a full backup in any case.
    public var isFull = false
    /// Whether to read every file, even if its times are unchanged.
    public var rereads = false
    /// The greatest `fullEvery`: backups with unknown needs are kept for that long; see `Dependence`.
    public static let mostFullEvery = Duration.seconds(30 * 86_400)

    /// The time for which others may be built on a full backup.
    public var fullEvery = Duration.seconds(7 * 86_400)
    /// The least size in bytes of an archive that others are built on: a smaller one is rewritten as fast.
    public var leastFullSize: Int64 = 16 << 20

    public init(statePath: FilePath) {
        self.statePath = statePath
    }
}
