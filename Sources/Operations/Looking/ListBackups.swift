public import Foundation
public import Remotes
public import History

/// Lists the backups in a remote folder, newest first.
public struct ListBackups: Sendable {
    /// A file that is no backup, and why.
    public struct PassedOver: Sendable, Equatable {
        public var name: String
        public var reason: String
    }

    /// What there is.
    public struct Outcome: Sendable {
        public var backups: [Backup]
        public var passedOver: [PassedOver]
        /// Why tags, notes and pins are not known, where they are not.
        public var annotationsError: (any Error)?
    }

    private let remote: any RemoteFolder
    private let catalog: BackupCatalog
    private let timeZone: TimeZone
    private let log: RunLog?

    /// Where it matters which backups are damaged, the log tells of their last checks.
    public init(
        in remote: any RemoteFolder,
        catalog: BackupCatalog,
        timeZone: TimeZone,
        log: RunLog? = nil
    ) {
        self.remote = remote
        self.catalog = catalog
        self.timeZone = timeZone
        self.log = log
    }

    /// Reads the folder.
    ///
    /// - Throws: `RemoteError`.
    public func run() async throws -> Outcome {
        var outcome = Outcome(backups: [], passedOver: [])
        for file in try await remote.list() {
            if let reason = reasonToPassOver(file.name) {
                outcome.passedOver.append(PassedOver(name: file.name, reason: reason))
            } else {
                outcome.backups.append(catalog.backup(file, in: remote.address, timeZone: timeZone))
            }
        }
        do {
            let annotations = try await Annotations(of: remote)
            for index in outcome.backups.indices { annotations.annotate(&outcome.backups[index]) }
        } catch {
            // No reason not to find and restore a backup.
            outcome.annotationsError = error
        }
        // Without a log nothing is known of checks.
        let checks = (try? log?.lastChecks(in: remote.address)) ?? [:]
        for index in outcome.backups.indices {
            outcome.backups[index].take(checks[outcome.backups[index].name] ?? [])
        }
        catalog.keepOnly(Set(outcome.backups.map(\.name)), in: remote.address)
        outcome.backups.sort(by: Self.isNewer)
        outcome.passedOver.sort { $0.name < $1.name }
        return outcome
    }

    /// The backup that a person means; see `[Backup].matching`.
    func find(_ text: String, now: Date? = nil) async throws -> Backup {
        try await run().backups.matching(text, address: remote.address, now: now)
    }

    private func reasonToPassOver(_ name: String) -> String? {
        if name.hasPrefix(LocalFolder.partialPrefix) {
            return "a backup that is being made, or was interrupted"
        }
        return name.hasSuffix(BackupName.suffix)
            ? nil : "its name does not end in '\(BackupName.suffix)'"
    }

    /// Backups whose time nothing tells come last; those of one moment by name, "(10)" after "(9)".
    private static func isNewer(_ left: Backup, _ right: Backup) -> Bool {
        switch (left.time, right.time) {
        case (let first?, let second?) where first != second: return first > second
        case (_?, nil): return true
        case (nil, _?): return false
        default:
            return left.name.count == right.name.count
                ? left.name > right.name : left.name.count > right.name.count
        }
    }
}
