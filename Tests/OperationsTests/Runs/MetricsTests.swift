@testable import Backups
import Files
import Foundation
import Operations
import Remotes
import History
import SystemPackage
import TestSupport
import Testing

@Suite("Metrics")
struct MetricsTests {
    let scene: Scene
    let log: RunLog
    let file: FilePath

    init() throws {
        scene = try Scene()
        log = RunLog(scene.sandbox.path("State/log.sqlite"))
        file = scene.sandbox.path("metrics.prom")
    }

    /// A sample of a metric: its labels and its value.
    private struct Sample: Equatable {
        var labels: [String: String]
        var value: Double
    }

    /// The breaches of the format, and their lines.
    private struct NotTheFormat: Error {
        var line: String
    }

    /// Reads the text format, strictly: every metric with its help and its type before it, all its
    /// samples together, no sample twice, a line end at the end.
    private func parse(_ text: String) throws -> [String: [Sample]] {
        guard text.hasSuffix("\n") else { throw NotTheFormat(line: "(no end of line)") }
        var metrics: [String: [Sample]] = [:]
        var helped: String?
        var current: String?
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: #/# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) [^\n]+/#) {
                helped = String(match.1)
            } else if let match = line.wholeMatch(of: #/# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) gauge/#) {
                let name = String(match.1)
                guard name == helped, metrics[name] == nil else {
                    throw NotTheFormat(line: String(line))
                }
                metrics[name] = []
                current = name
            } else if let match = line.wholeMatch(
                of: #/([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)\} (-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)/#
            ) {
                let name = String(match.1)
                guard name == current, let value = Double(match.3) else {
                    throw NotTheFormat(line: String(line))
                }
                let labels = try parseLabels(String(match.2))
                guard metrics[name]?.contains(where: { $0.labels == labels }) == false else {
                    throw NotTheFormat(line: "twice: \(line)")
                }
                metrics[name]?.append(Sample(labels: labels, value: value))
            } else {
                throw NotTheFormat(line: String(line))
            }
        }
        return metrics
    }

    private func parseLabels(_ text: String) throws -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text[...]
        while let match = rest.prefixMatch(
            of: #/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)",?/#
        ) {
            guard labels[String(match.1)] == nil else { throw NotTheFormat(line: text) }
            labels[String(match.1)] = String(match.2).replacing("\\n", with: "\n")
                .replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
            rest = rest[match.range.upperBound...]
        }
        guard rest.isEmpty else { throw NotTheFormat(line: text) }
        return labels
    }

    private func makeRun(_ command: Run.Command = .backup, profile: String? = "photos") -> Run {
        var run = Run(
            command,
            stores: scene.stores,
            remote: scene.remote.address,
            began: Scene.morning
        )
        run.profile = profile
        run.metricsFile = file
        run.log = log
        return run
    }

    private func perform(
        _ run: Run,
        _ result: CommandResult,
        isReachable: Bool = true
    ) async throws {
        _ = await run.perform(
            scene.context(),
            backups: {
                guard isReachable else { throw RemoteError.missing("x") }
                return try await scene.list()
            },
            failure: { _ in result },
            work: { result }
        )
    }

    private func metrics() throws -> [String: [Sample]] {
        let text = String(decoding: try scene.sandbox.read("metrics.prom"), as: UTF8.self)
        if Tool.isInstalled("promtool") {
            try Tool.check("promtool", ["check", "metrics"], input: Array(text.utf8))
        }
        return try parse(text)
    }

    private func value(_ name: String, of command: String? = nil) throws -> Double? {
        let samples = try metrics()["grocerydude_\(name)"] ?? []
        return samples.first { $0.labels["command"] == command }?.value
    }

    @Test("report a backup that was made, in Prometheus' own format")
    func backup() async throws {
        let made = try await scene.backUp()
        var outcome = CommandResult(exitCode: 0)
        outcome.size = made.backup.size
        outcome.bytes = made.bytes
        try await perform(makeRun(), outcome)
        #expect(try value("last_run_exit_code", of: "backup") == 0)
        #expect(try value("last_run_success", of: "backup") == 1)
        let ended = try #require(try value("last_run_timestamp_seconds", of: "backup"))
        #expect(ended >= 1_795_251_660.123 && ended < 1_795_251_760)
        #expect(try value("last_success_timestamp_seconds", of: "backup") == ended)
        #expect(
            try value("last_run_duration_seconds", of: "backup").map { $0 >= 0 && $0 < 100 } == true
        )
        #expect(try value("last_run_archive_bytes", of: "backup") == Double(made.backup.size))
        #expect(try value("last_run_data_bytes", of: "backup") == Double(made.bytes))
        #expect(try value("backups") == 1)
        #expect(try value("backups_bytes") == Double(made.backup.size))
        #expect(try value("newest_backup_timestamp_seconds") == 1_795_251_660.123)
        let age = try #require(try value("newest_backup_age_seconds"))
        #expect(abs(age - (ended - 1_795_251_660.123)) < 0.002)
        // The exporter is another user.
        #expect(try FileInfo(of: file).mode == 0o644)
    }

    @Test("replace no file of another program")
    func otherFile() async throws {
        try scene.sandbox.write("my notes", to: "metrics.prom")
        try await perform(makeRun(), CommandResult(exitCode: 0))
        #expect(try scene.sandbox.read("metrics.prom") == Array("my notes".utf8))
    }

    @Test("are not written into the stores directory", arguments: ["Stores", "Link"])
    func inStores(place: String) async throws {
        try scene.sandbox.link("Link", to: "Stores")
        var run = makeRun()
        run.metricsFile = scene.sandbox.path("\(place)/metrics.prom")
        try await perform(run, CommandResult(exitCode: 0))
        #expect(!scene.sandbox.exists("Stores/metrics.prom"))
        #expect(scene.told.contains { $0.contains("is in the stores directory") })
    }

    @Test("have each number that the dashboard for Grafana shows")
    func dashboard() async throws {
        let made = try await scene.backUp()
        var outcome = CommandResult(exitCode: 0)
        (outcome.size, outcome.bytes) = (made.backup.size, made.bytes)
        try await perform(makeRun(), outcome)
        let path = Fixtures.repository.appending("Packaging/grafana/grocerydude.json")
        let bytes = try File.contents(of: path, limit: 1 << 20)
        _ = try JSONSerialization.jsonObject(with: Data(bytes))
        let text = String(decoding: bytes, as: UTF8.self)
        let shown = Set(text.matches(of: /grocerydude_[a-z_]+/).map { String($0.output) })
        #expect(shown.count >= 8)
        #expect(try shown.subtracting(metrics().keys) == [])
    }

    @Test("take for the newest what is good: not what is damaged, or from the future")
    func newestGood() async throws {
        try await scene.backUp(at: Scene.morning - 3600)
        try await scene.backUp(at: Scene.morning + 86_400)
        try scene.sandbox.write("x", to: "Remote/[2026-Nov-21] 09.00 AM Stores.zip")
        try await perform(makeRun(), CommandResult(exitCode: 0))
        #expect(try value("backups") == 3)
        #expect(try value("newest_backup_timestamp_seconds") == 1_795_248_060.123)
    }

    @Test("report a run that failed, and when one last did not")
    func failure() async throws {
        try await scene.backUp()
        try await perform(makeRun(), CommandResult(exitCode: 0))
        let success = try value("last_success_timestamp_seconds", of: "backup")
        #expect(success != nil)
        try await perform(makeRun(), CommandResult(exitCode: 10), isReachable: false)
        #expect(try value("last_run_exit_code", of: "backup") == 10)
        #expect(try value("last_run_success", of: "backup") == 0)
        #expect(try value("last_success_timestamp_seconds", of: "backup") == success)
        #expect(try value("backups") == nil)
        #expect(try value("newest_backup_timestamp_seconds") == nil)
    }

    @Test("keep what other commands came to")
    func otherCommands() async throws {
        try await perform(makeRun(), CommandResult(exitCode: 3))
        try await perform(makeRun(.check), CommandResult(exitCode: 20))
        try await perform(makeRun(.prune), CommandResult(exitCode: 0))
        try await perform(makeRun(.check, profile: "music"), CommandResult(exitCode: 0))
        try await perform(makeRun(.prune), CommandResult(exitCode: 0))
        #expect(try value("last_run_exit_code", of: "backup") == 3)
        #expect(try value("last_run_exit_code", of: "check") == 20)
        #expect(try value("last_run_exit_code", of: "prune") == 0)
        #expect(try value("last_success_timestamp_seconds", of: "check") == nil)
        #expect(try value("backups") == 0)
    }

    @Test("do without a log")
    func damagedLog() async throws {
        try scene.sandbox.write("a file", to: "State")
        try await perform(makeRun(), CommandResult(exitCode: 0))
        #expect(try value("last_run_exit_code", of: "backup") == 0)
        #expect(scene.told == [])
    }

    @Test("hold odd names, and no secrets of rclone's")
    func labels() async throws {
        var run = makeRun(profile: #"a "b" \c"# + "\n{},=")
        run.remote = "rclone::s3,secret_access_key=hush:bucket/a"
        run.origin = "nas:/srv/app"
        try await perform(run, CommandResult(exitCode: 0))
        let labels = try #require(try metrics()["grocerydude_backups"]?.first?.labels)
        #expect(labels["profile"] == #"a "b" \c"# + "\n{},=")
        #expect(labels["remote"] == "rclone::s3,secret_access_key=…:bucket/a")
        #expect(labels["stores"] == scene.stores.string)
        #expect(labels["origin"] == "nas:/srv/app")
    }
}
