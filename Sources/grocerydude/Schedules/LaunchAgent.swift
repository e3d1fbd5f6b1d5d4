internal import Foundation

/// A job as an agent of launchd (launchd.plist(5)).
///
/// Not yet tried on macOS.
enum LaunchAgent {
    static func label(_ name: String) -> String {
        "org.grocerydude.\(name)"
    }

    /// Returns the property list, as XML; throws `ScheduleError` if the job cannot be written so.
    static func propertyList(_ job: ScheduledJob) throws -> String {
        let intervals = job.schedule.launchd
        guard intervals != nil || job.schedule.pace != nil else {
            throw ScheduleError.notForKind(job.schedule, .launchd)
        }
        var list: [String: Any] = [
            "Label": label(job.name),
            "ProgramArguments": [job.program] + job.arguments,
            "ProcessType": "Background",
            "LowPriorityIO": true,
            "Umask": 0o077,
            "StandardOutPath": ProcessEnvironment.home + "/Library/Logs/\(job.name).log",
            "StandardErrorPath": ProcessEnvironment.home + "/Library/Logs/\(job.name).log",
        ]
        if let intervals {
            list["StartCalendarInterval"] = intervals
        } else {
            list["KeepAlive"] = true
        }
        let environment = job.environment
        if !environment.isEmpty {
            list["EnvironmentVariables"] = Dictionary(
                environment.map { ($0.name, $0.value) },
                uniquingKeysWith: { $1 }
            )
        }
        let data = try PropertyListSerialization.data(
            fromPropertyList: list,
            format: .xml,
            options: 0
        )
        return String(decoding: data, as: UTF8.self)
            + "<!-- \(ScheduleFile.remark(job.schedule)) -->\n"
    }
}
