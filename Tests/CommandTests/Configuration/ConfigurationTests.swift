import ArgumentParser
import Backups
import Files
import Foundation
import Operations
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

@Suite("The configuration")
struct ConfigurationTests {
    let program: Program

    init() throws {
        program = try Program()
    }

    private var sandbox: Sandbox { program.sandbox }

    /// What is in force: by each setting's key, its value and where it was said.
    private func settings(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) throws -> [String: (value: String, at: String)] {
        try program.settings(arguments, environment: environment)
    }

    @Test("The configuration may begin with a byte order mark")
    func byteOrderMark() throws {
        try program.configure("\u{FEFF}compression: best\n")
        #expect(try settings()["compression"]?.value == "best")
    }

    @Test(
        "Flags override the environment, which overrides the profile and the general settings"
    )
    func precedence() throws {
        try program.configure(
            """
            compression: best
            lock_wait: 1m
            max_age: 1d
            profiles:
              photos:
                stores: /photos
                lock_wait: 2m
                remote: /backups
            """
        )
        let file = sandbox.path(Program.configuration).string
        let settings = try settings(
            "--remote",
            "/flag",
            environment: ["GROCERYDUDE_LOCK_WAIT": "3m", "GROCERYDUDE_REMOTE": "/environment"]
        )
        func expect(_ key: String, _ value: String, _ origin: String) {
            #expect(settings[key]?.value == value)
            #expect(settings[key]?.at == origin)
        }
        expect("remote", "/flag", "--remote")
        expect("lock_wait", "3m", "GROCERYDUDE_LOCK_WAIT")
        expect("stores", "/photos", "\(file):6")
        expect("compression", "best", "\(file):1")
        expect("max_age", "1d", "\(file):3")
        expect("restore.check", "quick", "default")
        // Without the two, the profile is next.
        let others = try self.settings()
        #expect(others["lock_wait"]?.value == "2m")
        #expect(others["remote"]?.at == "\(file):8")
    }

    @Test("The configuration shows the effective settings in a readable form")
    func shows() throws {
        try program.configure(
            "profiles: {photos: {stores: /photos, hooks: {backup: {before: [a, b]}}}}\n"
        )
        let outcome = try program.run("config", "show")
        let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "profile  photos")
        #expect(lines.contains { $0.hasPrefix("stores ") && $0.hasSuffix("config.yaml:1") })
        #expect(lines.contains { $0.hasPrefix("compression ") && $0.hasSuffix("default") })
        #expect(!outcome.text.contains("ping_url"))
        let index = try #require(lines.firstIndex { $0.hasPrefix("hooks.backup.before") })
        #expect(lines[index + 1].hasSuffix(" b"))
    }

    @Test(
        "The configuration resolves paths at its own directory, and knows the home directory"
    )
    func paths() throws {
        try sandbox.write(
            "stores: data/Stores\nremote: ~/Backups\nmetrics_file: ./x.prom\n",
            to: "elsewhere/my.yaml"
        )
        try sandbox.link("link.yaml", to: "elsewhere/my.yaml")
        let settings = try settings("--config", "elsewhere/my.yaml")
        #expect(settings["stores"]?.value == sandbox.path("elsewhere/data/Stores").string)
        #expect(settings["remote"]?.value == sandbox.path("Backups").string)
        #expect(settings["metrics_file"]?.value == sandbox.path("elsewhere/x.prom").string)
        // As everywhere, a link stays where it is.
        let linked = try self.settings(environment: ["GROCERYDUDE_CONFIG": "link.yaml"])
        #expect(linked["stores"]?.value == sandbox.path("data/Stores").string)
    }

    @Test("The configuration resolves an alias to its value")
    func aliases() throws {
        try program.configure("stores: &here /a\nremote: *here\n")
        #expect(try settings()["remote"]?.value == "/a")
    }

    @Test("The configuration selects the named profile, the one called default, or the only one")
    func choosing() throws {
        func stores(_ arguments: String..., environment: [String: String] = [:]) throws -> String {
            let outcome = try program.run(
                ["config", "show"] + arguments,
                environment: environment
            )
            return outcome.status == 0
                ? outcome.text.split(separator: "\n")[0].description : outcome.errors
        }
        try program.configure("profiles: {one: {}}\n")
        #expect(try stores() == "profile  one")
        try program.configure("profiles: {one: {}, two: {}}\n")
        #expect(try stores().contains("say which: '--profile one', '--profile two'"))
        #expect(try stores("--profile", "two") == "profile  two")
        #expect(try stores(environment: ["GROCERYDUDE_PROFILE": "two"]) == "profile  two")
        #expect(
            try stores("--profile", "one", environment: ["GROCERYDUDE_PROFILE": "two"])
                == "profile  one"
        )
        #expect(try stores("--profile", "onne").contains("did you mean 'one'?"))
        #expect(try stores("--profile", "photos").contains("it has 'one', 'two'"))
        try program.configure("profiles: {one: {}, default: {}}\n")
        #expect(try stores() == "profile  default")
        try program.configure("stores: /x\n")
        #expect(try stores() == "profile  none")
        #expect(try stores("--profile", "one").contains("it has none: leave out '--profile'"))
        try LocalFileSystem().remove(sandbox.path(Program.configuration))
        #expect(try stores() == "profile  none")
        #expect(try stores("--profile", "one").contains("there is no profile 'one'"))
    }

    private static let wrong: [(yaml: String, line: Int, words: String)] = [
        (
            "profiles:\n  photos:\n    retantion: 1\n", 3,
            "unknown key 'retantion' in profile 'photos'; did you mean 'retention'?"
        ),
        (
            "retention:\n  keep_dayly: 2\n", 2,
            "unknown key 'keep_dayly' in 'retention'; did you mean 'keep_daily'?"
        ),
        (
            "profiles: {a: {hooks: {backup: {\nbefor: x}}}}\n", 2,
            "unknown key 'befor' in 'hooks.backup' of profile 'a'; did you mean 'before'?"
        ),
        ("\nkeep_daily: 7\n", 2, "unknown key 'keep_daily'; it belongs in 'retention'"),
        ("profiles: {a: {profiles: {}}}\n", 1, "unknown key 'profiles' in profile 'a'"),
        ("quite: 1\n", 1, "hint: known are check"),
        ("1: 2\n", 1, "unknown key '1'"),
        ("[a]: 2\n", 1, "a key is not text"),
        ("stores: a\nremote: b\nstores: c\n", 1, "'stores' is here, and again further down"),
        ("stores: [a\n", 2, "this is not YAML"),
        ("stores: a\n---\nstores: b\n", 2, "this is not YAML: but found another document"),
        ("stores: \u{1}\n", 1, "control characters are not allowed"),
        ("stores: *a\n", 1, "undefined alias"),
        ("- a\n", 1, "does not begin with a key"),
        ("just text\n", 1, "does not begin with a key"),
        ("profiles:\n\tphotos: {}\n", 2, "a tab is where YAML wants spaces"),
        ("stores: 5\n", 1, "'stores' must be a path, not the number 5"),
        ("stores: yes\n", 1, "put it in quotes to mean the text"),
        ("stores:\n", 1, "'stores' must be a path, not empty"),
        ("stores: ''\n", 1, "'stores' must be a path, not ''"),
        ("stores: \"a\\0b\"\n", 1, "'stores' must be a path, not 'a"),
        ("stores: [a, b]\n", 1, "'stores' must be a path, not a list"),
        ("stores: {a: b}\n", 1, "'stores' must be a path, not keys and values"),
        ("stores: ~anna/x\n", 1, "only '~/' is expanded"),
        ("remote: 'rclone:'\n", 1, "'remote' must be a path or 'rclone:REMOTE:PATH'"),
        ("compression: fats\n", 1, "did you mean 'fast'?"),
        ("prune: maybe\n", 1, "'prune' must be true or false, not 'maybe'"),
        ("full_every: 31d\n", 1, "'full_every' must be at most 30d, not '31d'"),
        ("lock_wait: soon\n", 1, "'lock_wait' must be a length of time"),
        (
            "retention: {keep_last: -2}\n", 1,
            "must be a whole number of -1 or more, not the number -2"
        ),
        ("retention: {keep_last: 1.5}\n", 1, "not the number 1.5"),
        ("retention: {keep_within: 3w}\n", 1, "such as 14d or 2y5m7d3h, not '3w'"),
        ("retention: 7\n", 1, "'retention' must have keys and values, such as 'keep_last:'"),
        ("check: {read_data_subset: 5/4}\n", 1, "such as 10%, 1/7 or next/7, not '5/4'"),
        ("check: {read_data_subset: 101%}\n", 1, "such as 10%, 1/7 or next/7"),
        ("ping_url: hc-ping.example/1\n", 1, "begins with http:// or https://"),
        ("schedule: daily 25:00\n", 1, "must be a schedule such as 'daily 03:30'"),
        (
            "hooks: {backup: {before: [ls, [ls]]}}\n", 1,
            "'before' in 'hooks.backup' must be a command"
        ),
        ("hooks: {prune: {}}\n", 1, "unknown key 'prune' in 'hooks'"),
        ("profiles: [a]\n", 1, "'profiles' must have the profiles' names as keys"),
        ("profiles: {a: 1}\n", 1, "profile 'a' must have keys and values"),
        ("profiles: {'a b': {}}\n", 1, "the profile's name 'a b' cannot be used"),
        ("profiles: {../x: {}}\n", 1, "the profile's name '../x' cannot be used"),
    ]

    @Test(
        "The configuration reports the place of an error and suggests a correction",
        arguments: wrong.indices
    )
    func faults(index: Int) throws {
        let (yaml, line, words) = Self.wrong[index]
        try program.configure(yaml)
        let outcome = try program.run("list")
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        let place = "grocerydude: error: \(sandbox.path(Program.configuration).string):\(line): "
        #expect(outcome.errors.hasPrefix(place), "\(outcome.errors)")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test("A command reports one fault and how to see the others; validate lists all in order")
    func severalFaults() throws {
        try program.configure("stores: 1\nprofiles: {a: {prune: 5}}\nlock_wait: x\n")
        let list = try program.run("list")
        #expect(list.errors.contains(":1: 'stores'") && list.errors.contains("(and 2 more)"))
        #expect(list.errors.contains("hint: run 'grocerydude config validate'"))
        let validate = try program.run("config", "validate")
        #expect(validate.status == 64)
        let lines = validate.errors.split(separator: "\n").filter { $0.contains("error:") }
        #expect(lines.count == 3)
        for (line, number) in zip(lines, 1...) {
            #expect(line.contains("config.yaml:\(number):"))
        }
        let json = try program.run("config", "validate", "--json")
        #expect(json.output.isEmpty)
        #expect(json.errors.split(separator: "\n").allSatisfy { $0.hasPrefix(#"{"code":64,"#) })
    }

    @Test("The configuration must be a readable file of text")
    func unreadable() throws {
        try sandbox.write("", to: "empty.yaml")
        try sandbox.write("# nothing yet\n", to: "comment.yaml")
        try sandbox.write([0xFF, 0xFE, 0x41], to: "bytes.yaml")
        try sandbox.write([UInt8](repeating: 0x20, count: 300_000), to: "large.yaml")
        try sandbox.link("gone.yaml", to: "nowhere")
        try sandbox.link("loop.yaml", to: "loop.yaml")
        for (name, words) in [
            ("empty.yaml", "is empty"), ("comment.yaml", "is empty"),
            ("bytes.yaml", "is not text in UTF-8"), ("large.yaml", "is too large: 300.00 kB"),
            ("gone.yaml", "is not there"), ("loop.yaml", "cannot be used"),
            ("missing.yaml", "is not there"), (".", "is a directory"),
            ("/dev/null", "is not a file"),
        ] {
            let outcome = try program.run("config", "validate", "--config", name)
            #expect(outcome.status == 64)
            #expect(outcome.errors.contains(words), "\(name): \(outcome.errors)")
        }
        #expect(try program.run("config", "validate").errors.contains("there is no configuration"))
        // One that is meant to be in its usual place is not passed over.
        try sandbox.directory(".config/grocerydude")
        try sandbox.link(Program.configuration, to: "nowhere")
        #expect(try program.run("list").errors.contains("is not there"))
    }

    @Test(
        "The configuration is not ignored if it may not be read",
        .enabled(if: Tool.isInstalled("strace"), "strace is not installed")
    )
    func forbidden() throws {
        try program.configure("stores: /x\n")
        let path = sandbox.path(Program.configuration).string
        let outcome = try Tool.run(
            "strace",
            [
                "-f", "-o", "/dev/null", "-P", path, "-e", "inject=openat:error=EACCES",
                Program.path, "list",
            ],
            environment: ["HOME": sandbox.path.string, "XDG_CONFIG_HOME": ""]
        )
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("permission denied"), "\(outcome.errors)")
        #expect(outcome.errors.contains("hint: run as the owner"))
    }

    @Test("The configuration cannot grow without limit by aliases in values or keys")
    func bombs() throws {
        let letters = Array("abcdefghi")
        for form in ["%: &% [=]\n", "? &% [=]\n: 1\n"] {
            var text = "x: &x [1,1,1,1,1,1,1,1,1]\n"
            for (index, letter) in letters.enumerated() {
                let before = index == 0 ? "x" : String(letters[index - 1])
                let uses = Array(repeating: "*\(before)", count: 9).joined(separator: ",")
                text += form.replacing("%", with: String(letter)).replacing("=", with: uses)
            }
            try program.configure(text)
            let outcome = try program.run("config", "validate")
            #expect(outcome.errors.contains(":1: it has too many anchors and aliases"))
        }
        try program.configure(String(repeating: "[", count: 200_000))
        #expect(try program.run("config", "validate").status == 64)
        // Shell commands may look like aliases.
        try program.configure(
            "hooks: {backup: {before: '\(String(repeating: "rm *a & ", count: 500))'}}\n"
        )
        #expect(try program.run("config", "validate").status == 0)
    }

    @Test("A configuration is not valid if every backup refuses it, and each such profile is named")
    func useless() throws {
        try program.make(stores: "Stores", remote: "Remote")
        let key = String(
            try program.expect("key", "generate", "--output", "key.txt").text.dropLast()
        )
        let places = "stores: ~/Stores\nremote: ~/Remote\n"
        for (settings, words) in [
            ("prune: true", "no policy says what to keep"),
            ("prune: true\nretention: {keep_daily: 0}", "no policy says what to keep"),
            ("recipients: [password, \(key)]\npassword_command: echo x", "the only recipient"),
            ("recipients: ~/nobody.txt", "nobody.txt"),
            ("signing_key: ~/nobody", "nobody"),
        ] {
            try program.configure("\(places)\(settings)\n")
            let backup = try program.run("backup", "--quiet")
            let validate = try program.expect("config", "validate", status: backup.status)
            #expect(backup.status != 0 && backup.errors.contains(words), "\(backup.errors)")
            #expect(validate.errors.contains("the configuration makes no backups: "))
            #expect(validate.errors.contains(words), "\(validate.errors)")
        }
        // The common settings alone are no profile.
        try program.configure(
            "prune: true\nprofiles: {a: {}, b: {retention: {keep_last: 1}}, c: {}}\n"
        )
        let several = try program.expect("config", "validate", status: 64)
        #expect(several.errors.contains("'a' makes") && several.errors.contains("'c' makes"))
        #expect(!several.errors.contains("'b' makes") && !several.errors.contains("configuration"))
        #expect(several.errors.contains("hint: say what to keep, for example 'retention: {"))
    }

    @Test(
        "A variable that is empty, or almost one of the program's, is refused, and a hook's is not"
    )
    func unusedVariables() throws {
        let refused = try program.run("backup", environment: ["GROCERYDUDE_RECIPIENT": "age1x"])
        #expect(refused.status == 64 && refused.errors.contains("GROCERYDUDE_RECIPIENTS"))
        func backUpWithEmpty(_ arguments: String...) throws -> Tool.Outcome {
            let empty = ["-u", "X", "GROCERYDUDE_REMOTE=", Program.path, "backup"]
            return try Tool.run("env", empty + arguments, environment: program.environment)
        }
        let empty = try backUpWithEmpty()
        #expect(empty.status == 64 && empty.errors.contains("GROCERYDUDE_REMOTE is set, and empty"))
        // It has no effect if something else names the folder.
        #expect(try backUpWithEmpty("--remote", "/missing").status != 64)
        for name in ["GROCERYDUDE_STORE", "GROCERYDUDE_ERROR", "GROCERYDUDE_OTHER_TOOL"] {
            let shown = try program.run("config", "show", environment: [name: "x"])
            #expect(shown.status == 0, "\(shown.errors)")
        }
    }

    @Test("The configuration refuses a wrong environment variable and names it")
    func environment() throws {
        let outcome = try program.run("list", environment: ["GROCERYDUDE_LOCK_WAIT": "soon"])
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("GROCERYDUDE_LOCK_WAIT must be a length of time"))
    }

    @Test("The configuration's example is valid and shows every setting")
    func example() throws {
        let example = try program.run("config", "example")
        #expect(example.status == 0)
        #expect(example.text.split(separator: "\n").filter { $0.count > 80 } == [])
        try program.configure(example.text)
        let validate = try program.run("config", "validate", "--json")
        #expect(
            (try validate.json as? [String: Any])?["profiles"] as? [String] == ["photos", "server"]
        )
        for setting in Setting.all {
            let name = setting.key.split(separator: ".").last.map(String.init) ?? ""
            #expect(example.text.contains(name), "\(setting.key)")
        }
        // What is commented out is valid too.
        let all = example.text.replacing(#/# (keep_\w+: [^#\n]*)/#) { "\($0.1)" }
        #expect(all != example.text)
        try program.configure(all)
        let outcome = try program.run("config", "validate")
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("The documentation describes every setting of the configuration")
    func documentation() throws {
        let path = Fixtures.repository.appending("Documentation/Configuration.md")
        let text = try String(contentsOfFile: path.string, encoding: .utf8)
        for setting in Setting.all {
            // The hooks' operations are named once.
            let key = setting.key.replacing(
                #/hooks\.(backup|restore|check|sync)\.(?!stop|start|verify|will_import|did_import)/#
            ) {
                _ in "hooks.OPERATION."
            }
            #expect(text.contains("`\(key)`"), "\(key)")
            if let variable = setting.environment { #expect(text.contains("`\(variable)`")) }
        }
    }

    @Test("The configuration passes its policy and hooks to the operations")
    func values() throws {
        let yaml = """
            retention: {keep_daily: 7, keep_within: 2y5m, keep_within_weekly: 3m, keep_tags: ['a, b', c]}
            hooks: {restore: {before: x, on_failure: [y, z], timeout: 5m, stop: s, verify: [v]}}
            check: {restore: true, read_data_subset: 1/7, schedule: weekly sun}
            """
        let path = try sandbox.write(yaml, to: "c.yaml").string
        let profile = try Configuration(.parse(["--config", path])).profile([])
        #expect(profile.retention.counts == [.daily: 7])
        #expect(profile.retention.within?.description == "2y5m")
        #expect(profile.retention.withinPeriods[.weekly]?.months == 3)
        #expect(profile.retention.tags == [["a", "b"], ["c"]])
        let hooks = profile[hooksFor: .restore]
        #expect(hooks.commands == [.before: ["x"], .onFailure: ["y", "z"]])
        #expect(hooks.timeout == .seconds(300))
        #expect(profile[hooksFor: .backup].timeout == .seconds(600))
        #expect(profile.restore.commands == ApplicationCommands(stop: ["s"], verify: ["v"]))
        #expect(profile.check.restores && profile.check.readDataSubset?.description == "1/7")
        #expect(profile.check.schedule?.description == "weekly sun 00:00")
    }
}
