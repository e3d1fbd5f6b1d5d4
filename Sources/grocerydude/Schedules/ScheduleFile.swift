internal import Files
internal import Foundation
internal import Operations

/// A file of a scheduled job; for cron, a part of the user's table.
struct ScheduleFile: Equatable, Encodable {
    var path: String
    var text: String

    /// The word that replaces a path for the user's crontab, which has none.
    static let crontab = "crontab"

    /// Returns the remarks for a file about what may have been an option of the installation.
    static func remarks(_ job: ScheduledJob) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let settings = (try? encoder.encode(job.settings)).map {
            String(decoding: $0, as: UTF8.self).printableJSON
        }
        return "# \(remark) \(job.schedule)"
            + (job.settings.isEmpty ? "" : "\n# \(settingsRemark) \(settings ?? "{}")")
    }

    private static let remark = "Schedule:"
    private static let settingsRemark = "Settings:"

    /// Returns the schedule from the remark in files; `nil` if there is none.
    static func schedule(of files: [ScheduleFile]) -> Schedule? {
        texts(after: remark, in: files).lazy.compactMap(Schedule.init).first
    }

    /// Returns the options from the remark in files; none if there is none.
    static func flags(of files: [ScheduleFile]) -> [FlagValue] {
        let settings = texts(after: settingsRemark, in: files).lazy.compactMap {
            try? JSONDecoder().decode([String: String].self, from: Data($0.utf8))
        }
        return settings.first?.sorted { $0.key < $1.key }
            .compactMap { FlagValue("--set \($0.key)", $0.key, $0.value) } ?? []
    }

    /// Returns the paths in files that say which stores they are for: the stores directory, and the configuration.
    static func places(in files: [ScheduleFile]) -> (stores: String?, configuration: String?) {
        let words = files.first?.text.firstRange(of: " --config ").flatMap { range in
            files.first.map { $0.text[range.upperBound...].prefix { !$0.isWhitespace } }
        }
        return (flags(of: files).first { $0.key == "stores" }?.value, words.map(String.init))
    }

    private static func texts(after remark: String, in files: [ScheduleFile]) -> [String] {
        files.flatMap { $0.text.split(separator: "\n") }.compactMap { line in
            line.firstRange(of: "# \(remark) ").map { String(line[$0.upperBound...]) }
        }
    }

    /// Returns the files of a job for a scheduler; throws `ScheduleError` if it cannot express the job.
    static func files(_ job: ScheduledJob, _ kind: ScheduleKind) throws -> [ScheduleFile] {
        guard job.schedule.pace == nil || job.command == .backup else {
            throw ScheduleError.notContinuous(job.command.rawValue)
        }
        let paths = paths(of: job.name, kind)
        switch kind {
        case .systemdUser, .systemdSystem:
            let units = try SystemdUnits(job, kind)
            let texts = [units.service, units.failure] + [units.timer].compactMap(\.self)
            return zip(paths, texts).map(ScheduleFile.init)
        case .cron: return try zip(paths, [Crontab.block(job)]).map(ScheduleFile.init)
        }
    }

    /// Returns the paths of a job's files.
    static func paths(of name: String, _ kind: ScheduleKind) -> [String] {
        switch kind {
        case .systemdUser:
            SystemdUnits.names(of: name).map {
                "\(ProcessEnvironment.configuration)/systemd/user/\($0)"
            }
        case .systemdSystem: SystemdUnits.names(of: name).map { "/etc/systemd/system/\($0)" }
        case .cron: [crontab]
        }
    }
}
