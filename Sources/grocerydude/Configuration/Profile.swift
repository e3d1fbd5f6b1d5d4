internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import Stores
internal import SystemPackage

/// The settings in force for one run.
///
/// `Setting.all` defines their forms, and reads them into a profile.
struct Profile {
    /// The profile's name in the configuration; `nil` if the run has none.
    var name: String?
    /// The absolute path of its configuration; `nil` if there is none.
    var file: String?
    var stores: FilePath
    /// The remote folder: an absolute path, a path relative to the working directory, or `rclone:REMOTE:PATH`.
    var remote: String
    /// The configuration's values of both, if a flag or the environment overrides them.
    var configuredStores: FilePath?
    var configuredRemote: String?
    var compression: Compression = .default
    var lockWait: Duration = .zero
    /// The local directory in which archives for a remote folder are created and fetched; `nil` for the cache.
    var staging: FilePath?
    /// Whether an archive is completed on this machine before its upload.
    var spools = true
    /// The time limits for connecting to a remote, and for its silence; zero for none.
    var remoteConnectTimeout: Duration = .seconds(10)
    /// The bandwidth limit for rclone, in its form.
    var remoteBandwidth: String?
    var remoteIdleTimeout: Duration = .seconds(60)

    var keys = KeySettings()
    /// The name of the machine and the stores directory; `nil` for host and path.
    var originName: String?
    var tags: [String] = []
    /// The exclusions from backups, in addition to the standard ones.
    var exclusions = Exclusions.none
    var followsLinks = false
    /// The columns with names of the stores' files.
    var externalFiles: [ExternalFiles] = []
    var skipsIfUnchanged = false
    /// Whether backups contain only the differences from earlier ones.
    var isIncremental = false
    /// The time for which increments are built on a full backup.
    var fullEvery: Duration = .seconds(7 * 86_400)
    /// Whether a backup waits on this machine if the remote folder is unreachable.
    var queues = false
    var queueLimit = Outbox.Limit()
    /// Whether SQLite fully checks every store that is backed up.
    var checksStores = false
    /// Whether a full check counts rows that refer to missing rows as damage.
    var isStrict = false
    /// Whether a backup that is an increment reads files whose times have not changed too.
    var rereads = false
    /// The limits of an archive without a manifest.
    var limits = RestoreLimits()
    /// The longest time between two looks of a watching command; `nil` for each command's own.
    var watchInterval: Duration?
    /// Whether a backup prunes after it was verified.
    var prunes = false
    var retention = RetentionPolicy()
    /// The time for which safety backups are kept.
    var keepSafety: Duration = .seconds(7 * 86_400)
    /// The time for which removed backups stay in the trash.
    var keepTrash: Duration = .seconds(7 * 86_400)

    var check = CheckSettings()
    var restore = RestoreSettings()
    var sync = SyncSettings()
    private var hooks: [Run.Command: Hooks] = [:]

    /// The monitor's address, which is notified of the start and the end of runs.
    var pingURL: URL?
    var pingTimeout: Duration = .seconds(10)
    var metricsFile: FilePath?
    /// The targets of notifications, and the events that they are notified of.
    var notify: [NotificationTarget] = []
    var notifyOn: [JobCondition.Event] = [.failure, .recovery, .missed]
    /// The maximum age of the newest backup.
    var maxAge: Duration?
    /// The schedule on which `schedule install` runs backups.
    var schedule: Schedule?
    /// The reason why no backups are made for now, or `true`; `nil` if they are made.
    var suspended: String?

    /// The origins of explicit settings, by key.
    var origins: [String: Origin] = [:]

    init(name: String? = nil, file: String? = nil) {
        self.name = name
        self.file = file
        stores = FilePath(ProcessEnvironment.stores)
        remote = ProcessEnvironment.data + "/grocerydude/Apps/Grocery Dude"
    }

    /// The user's commands that run around one of this program's commands.
    subscript(hooksFor command: Run.Command) -> Hooks {
        get { hooks[command] ?? Hooks() }
        set { hooks[command] = newValue }
    }

    /// Returns the origin of a setting.
    func origin(of key: String) -> Origin {
        origins[key] ?? .default
    }
}

extension Profile {
    /// Refuses commands and files that other users may change, since those users could run commands as this user, or
    /// read backups.
    ///
    /// - Throws: `ConfigurationError.exposed` with the name of the setting.
    func refuseExposed() throws {
        for setting in Setting.all where setting.isOfCommands {
            for line in setting.show(self).lines {
                let exposure = Exposure(ofProgramsIn: line, home: ProcessEnvironment.home)
                try refuse("the command of '\(setting.key)'", exposure)
            }
        }
        for (key, paths) in keys.files {
            // The default file may be missing, and has no effect then.
            for path in paths where (try? FileInfo.ifPresent(path)) != nil {
                try refuse("the file of '\(key)'", Exposure(of: path))
            }
        }
        if let map = sync.map { try refuse("the file of 'sync.map'", Exposure(of: map)) }
        let addresses = [remote, sync.container].compactMap(\.self)
        if addresses.contains(where: { RemoteAddress($0).isOfRclone }) {
            // rclone's configuration contains commands too.
            let path =
                ProcessEnvironment.value("RCLONE_CONFIG")
                ?? ProcessEnvironment.configuration + "/rclone/rclone.conf"
            try refuse("rclone's configuration", Exposure(of: FilePath(path)))
        }
    }

    /// The user's command lines.
    var commandLines: [String] {
        Setting.all.filter(\.isOfCommands).flatMap { $0.show(self).lines }
    }

    private func refuse(_ what: String, _ exposure: Exposure?) throws {
        if let exposure { throw ConfigurationError.exposed(what, exposure) }
    }
}

extension Setting {
    fileprivate var isOfCommands: Bool { key.hasPrefix("hooks.") || key == "password_command" }
}

extension Hooks {
    /// The commands for a moment of a run.
    subscript(at moment: Moment) -> [String] {
        get { commands[moment] ?? [] }
        set { commands[moment] = newValue }
    }
}

/// The settings of a check.
struct CheckSettings: Equatable {
    /// The schedule on which `schedule install` runs checks.
    var schedule: Schedule?
    /// Whether to check all backups instead of the newest.
    var all = false
    /// Whether a check rehearses a restore.
    var restores = false
    /// The part to read in one check, as in restic: `10%` or `1/7`; or with `next/7` the part whose turn it is.
    var readDataSubset: SubsetChoice?
}

/// The settings of a restore.
struct RestoreSettings: Equatable {
    /// The level at which stores are checked before they replace the present ones.
    var level: CheckLevel = .quick
    var makesSafetyBackup = true
    /// The number of directories to take off the names in a zip of another program; `nil` for one that has all.
    var stripsComponents: Int?
    /// Whether leftovers of another program's restore are renamed if they are in the way.
    var setsAsideLeftovers = false
    /// The commands of a restore; their time limit is a setting of its hooks.
    var commands = ApplicationCommands()
    var announcement = RestoreAnnouncement()
}

/// The settings of sync.
struct SyncSettings {
    /// The folder that devices share, as a remote folder's address; `nil` for each store's own one.
    var container: String?
    /// The group's name; `nil` for one derived from the store's.
    var group: String?
    /// The file with the group's map.
    var map: FilePath?
    /// Whether to write a store while an application has it open; `nil` for yes except for Core Data's.
    var writesWhileOpen: Bool?
    /// The schedule on which `schedule install` exchanges stores.
    var schedule: Schedule?
    /// The maximum age of the last exchange.
    var maxAge: Duration?
    /// Whether stores are exchanged at all.
    var isEnabled = true
    /// The commands of sync; their time limit is a setting of its hooks.
    var commands = ImportCommands()
}
