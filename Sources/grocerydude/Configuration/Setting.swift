internal import Backups
internal import Files
internal import Changes
internal import Foundation
internal import Operations
internal import Remotes
internal import Stores
internal import SystemPackage

/// A setting: its form, and its place in a profile.
struct Setting {
    /// The key in the configuration, with its sections: `retention.keep_daily`.
    let key: String
    /// The environment variable, if there is one.
    var environment: String?
    /// The form of the paths in its value.
    let paths: Paths
    /// A closure that reads a value into a profile; throws `WrongValue`.
    let read: (WrittenValue, inout Profile) throws -> Void
    /// A closure that returns a profile's value.
    let show: (Profile) -> ShownValue

    init<Value>(
        _ key: String,
        environment: String? = nil,
        _ path: WritableKeyPath<Profile, Value>,
        paths: Paths = .noPath,
        show: @escaping (Value) -> ShownValue,
        read: @escaping (WrittenValue) throws -> Value
    ) {
        self.key = key
        self.paths = paths
        self.environment = environment.map { "GROCERYDUDE_\($0)" }
        self.read = { $1[keyPath: path] = try read($0) }
        self.show = { show($0[keyPath: path]) }
    }

    /// All settings, in the order of printing.
    static var all: [Setting] {
        places + backups + keys + retention + checks + sync + hooks + reports + notifications
    }

    private static var places: [Setting] {
        [
            Setting(
                "stores",
                environment: "STORES",
                \.stores,
                paths: .whole,
                show: { .text($0.string) }
            ) { FilePath(try $0.path("a path")) },
            Setting(
                "remote",
                environment: "REMOTE",
                \.remote,
                paths: .whole,
                show: ShownValue.address,
                read: folder
            ),
            duration("lock_wait", environment: "LOCK_WAIT", \.lockWait),
            path("staging", environment: "STAGING", \.staging),
            boolean("spool", \.spools),
            duration(
                "remote_connect_timeout",
                environment: "REMOTE_CONNECT_TIMEOUT",
                \.remoteConnectTimeout
            ),
            duration(
                "remote_idle_timeout",
                environment: "REMOTE_IDLE_TIMEOUT",
                \.remoteIdleTimeout
            ),
            text(
                "remote_bwlimit",
                environment: "REMOTE_BWLIMIT",
                \.remoteBandwidth,
                "rclone's form, such as 2M, 10M:1M or '08:00,512k 19:00,off'",
                bandwidth
            ),
        ]
    }

    private static var backups: [Setting] {
        [
            choice("compression", environment: "COMPRESSION", \.compression),
            texts("tags", \.tags, "a tag or a list of tags"),
            Setting("exclude", \.exclusions.patterns, show: { .list($0.map(\.text)) }) {
                try $0.patterns()
            },
            boolean("exclude_caches", \.exclusions.excludesCaches),
            boolean("follow_links", \.followsLinks),
            Setting("external_files", \.externalFiles, show: { .list($0.map(\.text)) }) {
                let wanted = "'TABLE.COLUMN of STORE in DIRECTORY', or a list of such"
                return try $0.list(wanted, ExternalFiles.init)
            },
            boolean("skip_if_unchanged", \.skipsIfUnchanged),
            boolean("incremental", \.isIncremental),
            Setting("full_every", \.fullEvery, show: ShownValue.duration) {
                try $0.duration(to: IncrementOptions.mostFullEvery)
            },
            boolean("reread", \.rereads),
            boolean("check_stores", \.checksStores),
            boolean("strict", \.isStrict),
            boolean("queue", \.queues),
            number("queue_limit.backups", \.queueLimit.backups),
            size("queue_limit.size", \.queueLimit.bytes),
            schedule("schedule", environment: "SCHEDULE", \.schedule),
            boolean("prune", \.prunes),
            Setting("suspended", \.suspended, show: { $0.map { .text($0) } ?? .none }) {
                try $0.reason()
            },
        ]
    }

    private static var retention: [Setting] {
        let counts = RetentionPolicy.Period.allCases.map { period in
            Setting(
                "retention.keep_\(period.rawValue)",
                \.retention.counts[period],
                show: { $0.map(ShownValue.number) ?? .none },
                read: { try $0.count(from: -1) }
            )
        }
        // restic has no keep-within-last; keep-within keeps all backups of a time span.
        let spans = RetentionPolicy.Period.allCases.filter { $0 != .last }.map { period in
            span("retention.keep_within_\(period.rawValue)", \.retention.withinPeriods[period])
        }
        return counts + [span("retention.keep_within", \.retention.within)] + spans + [
            Setting(
                "retention.keep_tags",
                \.retention.tags,
                show: { .list($0.map { $0.joined(separator: ",") }) },
                read: { value in
                    try value.texts("tags").map {
                        $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                    }
                }
            ),
            duration("retention.keep_safety", \.keepSafety),
            duration("retention.keep_trash", \.keepTrash),
        ]
    }

    private static var checks: [Setting] {
        [
            schedule("check.schedule", environment: "CHECK_SCHEDULE", \.check.schedule),
            boolean("check.all", \.check.all),
            boolean("check.restore", \.check.restores),
            text(
                "check.read_data_subset",
                \.check.readDataSubset,
                "a part such as 10%, 1/7 or next/7",
                { SubsetChoice($0) }
            ),
            choice("restore.check", \.restore.level),
            boolean("restore.safety_backup", \.restore.makesSafetyBackup),
            Setting(
                "restore.strip_components",
                \.restore.stripsComponents,
                show: { $0.map(ShownValue.number) ?? .none },
                read: { try $0.count(from: 0) }
            ),
            boolean("restore.set_aside_leftovers", \.restore.setsAsideLeftovers),
            number("limits.entries", \.limits.entries),
            size("limits.size", \.limits.bytes),
            number("limits.ratio", \.limits.ratio),
            number("limits.depth", \.limits.depth),
            Setting(
                "restore.notify",
                \.restore.announcement.signals,
                paths: .labelled,
                show: { .list($0.map(\.description)) }
            ) {
                let wanted = "a signal and a file with a process's number, such as HUP:/run/app.pid"
                return try $0.list(wanted, ApplicationSignal.init)
            },
            path("restore.generation_file", \.restore.announcement.generationFile),
        ]
    }

    private static var sync: [Setting] {
        [
            Setting(
                "sync.container",
                environment: "CONTAINER",
                \.sync.container,
                paths: .whole,
                show: { $0.map(ShownValue.address) ?? .none },
                read: folder
            ),
            text(
                "sync.group",
                \.sync.group,
                "1 to 40 of the letters a to z, digits and hyphens",
                { GroupName($0)?.description }
            ),
            path("sync.map", \.sync.map),
            schedule("sync.schedule", environment: "SYNC_SCHEDULE", \.sync.schedule),
            Setting(
                "sync.while_open",
                \.sync.writesWhileOpen,
                show: { $0.map(ShownValue.boolean) ?? .none }
            ) { try $0.boolean() },
            duration("sync.max_age", \.sync.maxAge),
            boolean("sync.enabled", \.sync.isEnabled),
        ]
    }

    private static var hooks: [Setting] {
        let moments = Run.Command.hooked.flatMap { command in
            Hooks.Moment.allCases.map { moment in
                texts(
                    "hooks.\(command.rawValue).\(moment.rawValue)",
                    \.[hooksFor: command][at: moment]
                )
            }
                + [duration("hooks.\(command.rawValue).timeout", \.[hooksFor: command].timeout)]
        }
        return moments + [
            texts("hooks.restore.stop", \.restore.commands.stop),
            texts("hooks.restore.start", \.restore.commands.start),
            texts("hooks.restore.verify", \.restore.commands.verify),
            texts("hooks.sync.will_import", \.sync.commands.willImport),
            texts("hooks.sync.did_import", \.sync.commands.didImport),
        ]
    }

    private static var reports: [Setting] {
        [
            text(
                "ping_url",
                environment: "PING_URL",
                \.pingURL,
                "an address that begins with http:// or https://",
                webAddress
            ),
            duration("ping_timeout", \.pingTimeout),
            path("metrics_file", environment: "METRICS_FILE", \.metricsFile),
            duration("max_age", environment: "MAX_AGE", \.maxAge),
            Setting(
                "watch_interval",
                \.watchInterval,
                show: { $0.map(ShownValue.duration) ?? .none }
            ) { value in
                let interval = try value.duration()
                guard interval > .zero else {
                    throw WrongValue(wanted: "1s or more", not: value.form)
                }
                return interval
            },
        ]
    }
}

extension Setting {
    private static var notifications: [Setting] {
        [
            Setting("notify", \.notify, show: { .list($0.map(\.shown)) }) {
                let wanted = "\(NotificationTarget.form), or a list of them"
                return try $0.list(
                    wanted,
                    masked: NotificationTarget.masked,
                    NotificationTarget.init
                )
            },
            Setting("notify_on", \.notifyOn, show: { .list($0.map(\.rawValue)) }) {
                try $0.choices(of: JobCondition.Event.self)
            },
        ]
    }
}

// The kinds of value that several settings share.
extension Setting {
    /// Reads the address of a remote folder.
    private static func folder(_ value: WrittenValue) throws -> String {
        let wanted = "a path or 'rclone:REMOTE:PATH'"
        guard case .text(let text) = value.form else { return try value.path(wanted) }
        do {
            let address = try RemoteAddress(written: text, in: FilePath(value.base ?? ""))
            return address.isOfRclone ? text : try value.path(wanted)
        } catch let error as AddressError {
            throw WrongValue(reason: "must be \(wanted): \(error)", hint: error.hint)
        }
    }

    /// Returns a bandwidth as it is, if rclone may understand it.
    private static func bandwidth(_ text: String) -> String? {
        text.wholeMatch(of: /[0-9A-Za-z]([0-9A-Za-z.:,; -]*[0-9A-Za-z])?/) == nil ? nil : text
    }

    private static func duration(
        _ key: String,
        environment: String? = nil,
        _ path: WritableKeyPath<Profile, Duration>
    ) -> Setting {
        Setting(key, environment: environment, path, show: ShownValue.duration) {
            try $0.duration()
        }
    }

    private static func duration(
        _ key: String,
        environment: String? = nil,
        _ path: WritableKeyPath<Profile, Duration?>
    ) -> Setting {
        Setting(key, environment: environment, path, show: { $0.map(ShownValue.duration) ?? .none })
        { try $0.duration() }
    }

    /// A whole number of 1 or more.
    private static func number<Number: BinaryInteger>(
        _ key: String,
        _ path: WritableKeyPath<Profile, Number>
    ) -> Setting {
        Setting(key, path, show: { ShownValue.number(Int($0)) }) { Number(try $0.count(from: 1)) }
    }

    private static func size(_ key: String, _ path: WritableKeyPath<Profile, Int64>) -> Setting {
        Setting(key, path, show: { .text(ByteSize(bytes: $0).text) }) {
            try $0.text("a size such as 500M or 20G", ByteSize.init).bytes
        }
    }

    private static func boolean(_ key: String, _ path: WritableKeyPath<Profile, Bool>) -> Setting {
        Setting(key, path, show: ShownValue.boolean) { try $0.boolean() }
    }

    private static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: String,
        environment: String? = nil,
        _ path: WritableKeyPath<Profile, Choice>
    ) -> Setting {
        Setting(key, environment: environment, path, show: { .text($0.rawValue) }) {
            try $0.choice(of: Choice.self)
        }
    }

    static func text<Value: CustomStringConvertible>(
        _ key: String,
        environment: String? = nil,
        _ path: WritableKeyPath<Profile, Value?>,
        _ wanted: String,
        _ read: @escaping (String) -> Value?
    ) -> Setting {
        Setting(
            key,
            environment: environment,
            path,
            show: { $0.map { .text($0.description) } ?? .none },
            read: { try $0.text(wanted, read) }
        )
    }

    private static func span(
        _ key: String,
        _ path: WritableKeyPath<Profile, CalendarSpan?>
    ) -> Setting {
        text(key, path, "a length of time such as 14d or 2y5m7d3h", CalendarSpan.init)
    }

    private static func texts(
        _ key: String,
        _ path: WritableKeyPath<Profile, [String]>,
        _ wanted: String = "a command or a list of commands"
    ) -> Setting {
        Setting(key, path, show: ShownValue.list) { try $0.texts(wanted) }
    }

    private static func schedule(
        _ key: String,
        environment: String,
        _ path: WritableKeyPath<Profile, Schedule?>
    ) -> Setting {
        text(
            key,
            environment: environment,
            path,
            "a schedule such as \(Schedule.examples)",
            Schedule.init
        )
    }

    private static func webAddress(_ text: String) -> URL? {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme),
            url.host?.isEmpty == false
        else { return nil }
        return url
    }
}
