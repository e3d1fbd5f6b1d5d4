internal import Backups
internal import Archives
internal import Foundation
internal import Operations
internal import Stores
internal import SystemPackage

/// The settings in force for one run.
///
/// `Setting.all` says how each is written, and fills it in.
struct Profile {
    /// The profile's name in the configuration; `nil` if the run has none.
    var name: String?
    /// The configuration that it is from, absolute; `nil` if there is none.
    var file: String?
    var stores: FilePath
    /// The remote folder: an absolute path, a path relative to the working directory, or `rclone:REMOTE:PATH`.
    var remote: String
    /// The configuration's values of both, if a flag or the environment says something else.
    var configuredStores: FilePath?
    var configuredRemote: String?
    var compression: Compression = .default
    var lockWait: Duration = .zero
    /// Where archives are made and fetched to that belong elsewhere; `nil` for the cache.
    var staging: FilePath?
    /// Whether an archive is made on this machine before it is uploaded.
    var spools = true
    /// How long to try to reach a remote, and how long it may say nothing; zero is for ever.
    var remoteConnectTimeout: Duration = .seconds(10)
    var remoteIdleTimeout: Duration = .seconds(60)

    var keys = KeySettings()
    var tags: [String] = []
    /// What is left out of backups, beside what always is.
    var exclusions = Exclusions.none
    var skipsIfUnchanged = false
    /// Whether backups hold only what is different from earlier ones.
    var isIncremental = false
    /// How long increments are built on a whole backup.
    var fullEvery: Duration = .seconds(7 * 86_400)
    /// Whether a backup waits on this machine if the remote folder cannot be reached.
    var queues = false
    var queueLimit = Outbox.Limit()
    /// Whether SQLite checks all of every store that is backed up.
    var checksStores = false
    /// Whether a backup prunes once it is verified.
    var prunes = false
    var retention = RetentionPolicy()
    /// How long safety backups are kept.
    var keepSafety: Duration = .seconds(7 * 86_400)
    /// How long removed backups stay in the trash.
    var keepTrash: Duration = .seconds(7 * 86_400)

    var check = CheckSettings()
    var restore = RestoreSettings()
    var sync = SyncSettings()
    private var hooks: [Run.Command: Hooks] = [:]

    /// The monitor's address, which hears of the beginning and the end of runs.
    var pingURL: URL?
    var pingTimeout: Duration = .seconds(10)
    var metricsFile: FilePath?
    /// How old the newest backup may be.
    var maxAge: Duration?
    /// When `schedule install` has backups made.
    var schedule: Schedule?

    /// The origin of each setting that was made, by its key.
    var origins: [String: Origin] = [:]

    init(name: String? = nil, file: String? = nil) {
        self.name = name
        self.file = file
        stores = FilePath(ProcessEnvironment.data + "/grocerydude/Stores")
        remote = ProcessEnvironment.data + "/grocerydude/Apps/Grocery Dude"
    }

    /// The user's commands that run around one of ours.
    subscript(hooksFor command: Run.Command) -> Hooks {
        get { hooks[command] ?? Hooks() }
        set { hooks[command] = newValue }
    }

    /// Returns the origin of a setting.
    func origin(of key: String) -> Origin {
        origins[key] ?? .default
    }
}

extension Hooks {
    /// The commands that run at a moment.
    subscript(at moment: Moment) -> [String] {
        get { commands[moment] ?? [] }
        set { commands[moment] = newValue }
    }
}

/// The settings of a check.
struct CheckSettings: Equatable {
    /// When `schedule install` has them checked.
    var schedule: Schedule?
    /// Whether all backups are checked, and not only the newest.
    var all = false
    /// Whether a check rehearses a restore.
    var restores = false
    /// The part to read in one check, as in restic: `10%` or `1/7`; or the one whose turn it is: `next/7`.
    var readDataSubset: SubsetChoice?
}

/// The settings of a restore.
struct RestoreSettings: Equatable {
    /// How stores are checked before they take their place.
    var level: CheckLevel = .quick
    var makesSafetyBackup = true
    /// How long each may take is said with the hooks of a restore.
    var commands = ApplicationCommands()
    var announcement = RestoreAnnouncement()
}
