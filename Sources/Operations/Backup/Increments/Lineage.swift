internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History

/// The state of a lineage while a backup is made; changes are kept only once the backup has its name.
///
///     begin → write → publish → keep
///           ↘ drop, and begin again
struct Lineage {
    private let options: IncrementOptions
    private(set) var state: BackupState

    /// Opens the state.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    init(_ options: IncrementOptions) throws {
        self.options = options
        state = try BackupState(options.statePath)
    }

    /// Chooses the place of the next backup.
    ///
    /// - Parameters:
    ///   - backups: the backups of the folder.
    ///   - date: the current time.
    ///   - isFull: whether to make a full backup.
    /// - Returns: the place.
    /// - Throws: `HistoryError`.
    func begin(among backups: [Backup], at date: Date, isFull: Bool) throws -> LineagePlan {
        try state.begin()
        var options = options
        options.isFull = options.isFull || isFull
        let plan = try LineagePlan(state, among: backups, options, at: date)
        // A full backup uses no earlier state.
        if !plan.isIncrement { try state.clear() }
        return plan
    }

    /// Discards everything recorded since `begin`.
    func drop() { state.rollBack() }

    /// Creates a new state in place of a damaged one.
    mutating func renew() throws {
        state.close()
        try BackupState.remove(options.statePath)
        state = try BackupState(options.statePath)
    }

    /// Commits everything recorded, once a backup has its name.
    func keep(_ backup: Backup, _ written: WrittenArchive, _ plan: LineagePlan) throws {
        guard let digest = written.trailer.state else { return drop() }
        try state.add(
            BackupState.Made(
                number: plan.number,
                name: backup.name,
                size: written.size,
                created: written.header.created,
                state: digest,
                base: plan.isIncrement ? plan.base : nil
            )
        )
        try state.commit()
    }
}
