internal import Files

/// A job as a service and a timer of systemd (systemd.service(5), systemd.timer(5)).
struct SystemdUnits {
    let service: String
    /// The service that runs after a failure, since a run that was killed, or could not begin, reports nothing.
    let failure: String
    /// The timer; `nil` for a continuous service.
    let timer: String?

    /// Throws `ScheduleError` if systemd cannot express the job.
    init(_ job: ScheduledJob, _ kind: ScheduleKind) throws {
        service = try Self.service(job, kind)
        failure = try Self.failure(of: job, kind)
        guard job.schedule.pace == nil else {
            timer = nil
            return
        }
        guard let calendars = job.schedule.systemd else {
            throw ScheduleError.notForKind(job.schedule, kind)
        }
        timer = """
            # Made by 'grocerydude schedule install', which replaces it.
            [Unit]
            Description=\(Self.plain(job.title)), by the clock

            [Timer]
            \(calendars.map { "OnCalendar=\($0)" }.joined(separator: "\n"))
            # One that was missed is made up for.
            Persistent=true

            [Install]
            WantedBy=timers.target

            """
    }

    /// Returns the names of a job's units, the timer last.
    static func names(of job: String) -> [String] {
        ["\(job).service", failureName(of: job), "\(job).timer"]
    }

    /// Returns the name of the unit that is enabled for a job: its timer, or a service that always runs.
    static func starting(_ job: String, isService: Bool) -> String {
        isService ? "\(job).service" : "\(job).timer"
    }

    private static func failureName(of job: String) -> String { "\(job)@failed.service" }

    private static func failure(of job: ScheduledJob, _ kind: ScheduleKind) throws -> String {
        let environment = environment(of: job, kind).map { "Environment=\($0)\n" }.joined()
        return """
            # Made by 'grocerydude schedule install', which replaces it.
            [Unit]
            Description=\(plain(job.title)), after a failure

            [Service]
            Type=oneshot
            UMask=0077
            \(environment)ExecStart=\(try command(job, job.failureArguments, kind))

            """
    }

    /// Returns the variables of a job's services.
    private static func environment(of job: ScheduledJob, _ kind: ScheduleKind) -> [String] {
        // A service of the system has no HOME.
        let home = kind == .systemdSystem ? [("HOME", ProcessEnvironment.home)] : []
        return (home + job.environment).map { quoted("\($0)=\($1)") }
    }

    private static func service(_ job: ScheduledJob, _ kind: ScheduleKind) throws -> String {
        let isSystem = kind == .systemdSystem
        var unit = [
            "Description=\(plain(job.title))", "OnFailure=\(plain(failureName(of: job.name)))",
        ]
        // systemd has no escapes in these lists.
        let places = job.neededPaths.filter { !$0.contains { "\"\\".contains($0) || $0.isNewline } }
        unit += places.map { "RequiresMountsFor=\(quoted($0))" }
        if isSystem, job.isRemoteOfRclone {
            unit += ["Wants=network-online.target", "After=network-online.target"]
        }
        let isContinuous = job.schedule.pace != nil
        var service = [isContinuous ? "Type=exec" : "Type=oneshot"]
        service += environment(of: job, kind).map { "Environment=\($0)" }
        if isSystem, job.needsAnything == nil {
            let paths = job.keptPaths.map(argument).joined(separator: " ")
            service.append("ExecStartPre=+/bin/mkdir -p -m 0700 \(paths)")
        }
        service.append("ExecStart=\(try command(job, job.arguments, kind))")
        if isContinuous {
            service += [
                "# It ends with that when it is stopped, or suspended.", "SuccessExitStatus=143 75",
                "Restart=on-failure", "RestartSec=60",
            ]
        } else {
            service += ["# Skipped by a hook, which is no failure.", "SuccessExitStatus=75"]
        }
        service += [
            "Nice=10",
            "IOSchedulingClass=best-effort",
            "IOSchedulingPriority=7",
            "UMask=0077",
        ]
        service += hardening(job, isSystem: isSystem)
        return """
            # Made by 'grocerydude schedule install', which replaces it.
            \(ScheduleFile.remarks(job))
            [Unit]
            \(unit.joined(separator: "\n"))

            [Service]
            \(service.joined(separator: "\n"))

            """ + (isContinuous ? install(isSystem: isSystem) : "")
    }

    private static func install(isSystem: Bool) -> String {
        "\n[Install]\nWantedBy=\(isSystem ? "multi-user" : "default").target\n"
    }

    private static func hardening(_ job: ScheduledJob, isSystem: Bool) -> [String] {
        if let reason = job.needsAnything { return ["# No sandbox: \(reason)."] }
        let everywhere = [
            "NoNewPrivileges=yes",
            "LockPersonality=yes",
            "MemoryDenyWriteExecute=yes",
            "RestrictNamespaces=yes",
            "RestrictRealtime=yes",
            "RestrictSUIDSGID=yes",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            "SystemCallArchitectures=native",
        ]
        // For a single user, the following lines would need a user namespace. It hides the owners of other users'
        // files, so that the backup would record wrong owners.
        guard isSystem else { return everywhere }
        return everywhere + [
            "SystemCallFilter=@system-service",
            "CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_CHOWN",
            "PrivateDevices=yes",
            "ProtectClock=yes",
            "ProtectControlGroups=yes",
            "ProtectHostname=yes",
            "ProtectKernelLogs=yes",
            "ProtectKernelModules=yes",
            "ProtectKernelTunables=yes",
        ] + protection(job.writtenPaths)
    }

    /// Returns the lines that make all paths read-only except those that the job writes.
    private static func protection(_ paths: [String]) -> [String] {
        // systemd has no escapes in these lists.
        guard !paths.contains(where: { $0.contains { "\"'\\".contains($0) || $0.isNewline } })
        else {
            return ["# The file system is not read-only: a path has quotes in it."]
        }
        let list = paths.map { "\"-\($0.replacing("%", with: "%%"))\"" }.joined(separator: " ")
        let isTemporary = paths.contains { path in
            ["/tmp", "/var/tmp"].contains { path == $0 || path.hasPrefix($0 + "/") }
        }
        return ["ProtectSystem=strict", "ReadWritePaths=\(list)"]
            + (isTemporary ? ["ReadWritePaths=/tmp /var/tmp"] : ["PrivateTmp=yes"])
    }

    private static func command(
        _ job: ScheduledJob,
        _ arguments: [String],
        _ kind: ScheduleKind
    ) throws -> String {
        let arguments = arguments.map(argument).joined(separator: " ")
        // systemd accepts no quotes and no variables in a program's path; env(1) accepts both.
        guard job.program.contains(where: { "\"'\\$".contains($0) || $0.isNewline }) else {
            return "\(quoted(job.program)) \(arguments)"
        }
        guard !job.program.contains("=") else {
            throw ScheduleError.notWritable(job.program, kind)
        }
        return "/usr/bin/env \(argument(job.program)) \(arguments)"
    }

    /// Returns a word of a command, with `$` doubled, since it begins a variable there.
    static func argument(_ text: String) -> String {
        quoted(text).replacing("$", with: "$$")
    }

    /// Returns a word quoted according to systemd.syntax(7), with the specifiers of systemd.unit(5) doubled.
    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.allSatisfy({ $0.isWord(or: Character.plain) }) { return text }
        return "\"\(text.escaped(escapes))\""
    }

    private static let escapes: [Unicode.Scalar: String] = [
        "\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\t": "\\t", "\r": "\\r", "%": "%%",
    ]

    private static func plain(_ text: String) -> String { text.replacing("%", with: "%%") }
}
