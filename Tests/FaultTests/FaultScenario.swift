import Files
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A command that is disturbed, and the states in which it may leave the stores directory.
struct FaultScenario: Sendable, CustomTestStringConvertible {
    /// A state of the stores directory.
    enum State: Sendable {
        /// As it was, be it that there was none.
        case before
        /// As the backup has it.
        case new
    }

    var name: String
    var arguments: [String]
    /// What may be there once the next command has run after a crash.
    var states: Set<State>
    /// What is there after it succeeded; `nil` for either.
    var success: State?
    var refusal: Injection.Refusal?
    var refusalErrno = Errno.invalidArgument
    /// Brings a fresh copy into the state in which the command is disturbed.
    var prepare: @Sendable (FaultScene, Trial) throws -> Void = { _, _ in }
    /// A failure that is part of the scenario, found among the calls of an undisturbed run.
    var standing: @Sendable ([SystemCall], Trial) -> Injection.Failure? = { _, _ in nil }
    /// What comes after it; a backup, or the same again where there is nothing to back up.
    var next: [String]?
    /// Whether what was there before is what was there before `prepare`.
    var isRecovery = false
    /// Whether the stores directory is a mount point.
    var isMounted = false
    /// The exit code of an undisturbed run.
    var status: Int32 = 0
    /// The names at the top that change places, if only a part is restored.
    var only: [String] = []

    var testDescription: String { name }

    var injection: Injection {
        Injection(refusal: refusal.map { ($0, refusalErrno) })
    }

    /// The same where the stores directory is a mount point.
    func mounted() -> FaultScenario {
        var scenario = self
        scenario.name += " in a mount point"
        scenario.isMounted = true
        return scenario
    }

    /// The same without the exchange of names, or without all that renameat2(2) has more.
    func refusing(_ refusal: Injection.Refusal, _ errno: Errno) -> FaultScenario {
        var scenario = self
        scenario.name += refusal == .exchange ? " without exchange" : " without renameat2"
        scenario.refusal = refusal
        scenario.refusalErrno = errno
        return scenario
    }
}

extension FaultScenario {
    static let backup = FaultScenario(
        name: "backup",
        arguments: ["backup"],
        states: [.before],
        success: .before
    )

    static let encryptedBackup = FaultScenario(
        name: "encrypted backup",
        arguments: ["backup", "--recipient", FaultScene.recipient],
        states: [.before],
        success: .before
    )

    /// The same archive as that of the scene, encrypted.
    static let encryptedArchive = "[2026-Feb-01] 09.01 AM Stores.zip.age"

    static let encryptedRestore = FaultScenario(
        name: "encrypted restore",
        arguments: ["restore", "[2026-Feb-01] 09.01 AM", "--yes"],
        states: [.before, .new],
        success: .new,
        prepare: { scene, trial in
            let recipient = FaultScene.recipient
            try LocalFileSystem().createDirectory(trial.other)
            let target = trial.other.string
            try trial.check("copy", scene.archive, "--to", target, "--recipient", recipient)
            try LocalFileSystem().move(
                trial.other.appending(scene.archive + ".age"),
                to: trial.remote.appending(encryptedArchive)
            )
            try LocalFileSystem().remove(trial.other)
        }
    )

    static let encryptedCopy = FaultScenario(
        name: "copy that encrypts",
        arguments: ["copy", "--all", "--to", "Other", "--recipient", FaultScene.recipient],
        states: [.before],
        success: .before,
        prepare: { _, trial in try LocalFileSystem().createDirectory(trial.other) }
    )

    static let encryptedImport = FaultScenario(
        name: "import that encrypts",
        arguments: ["import", "Found", "--remote", "Other", "--recipient", FaultScene.recipient],
        states: [.before],
        success: .before,
        prepare: { scene, trial in
            let archive = trial.remote.appending(scene.archive)
            try Tool.check("cp", [archive.string, trial.found.string])
            try LocalFileSystem().createDirectory(trial.other)
        }
    )

    /// The folder's one backup is encrypted for another key, and nothing else is in the folder.
    static let rotation = FaultScenario(
        name: "key rotate that encrypts anew",
        arguments: [
            "key", "rotate", "--identity", "Key", "--recipient", FaultScene.laterRecipient,
        ],
        states: [.before],
        success: .before,
        prepare: { scene, trial in
            try encryptedRestore.prepare(scene, trial)
            try LocalFileSystem().remove(trial.remote.appending(scene.archive))
            try FaultScene.addLaterKey(to: trial)
        },
        next: [
            "key", "rotate", "--identity", "Key", "--recipient", FaultScene.laterRecipient,
        ]
    )

    /// A store whose writer was killed amid a transaction: a copy of it is recovered.
    static let backupOfHotJournal = FaultScenario(
        name: "backup of a hot journal",
        arguments: ["backup"],
        states: [.before],
        success: .before,
        prepare: { scene, trial in try scene.addHotJournal(to: trial) }
    )

    static let restore = FaultScenario(
        name: "restore",
        arguments: ["restore", "latest", "--yes"],
        states: [.before, .new],
        success: .new
    )

    static let restoreAlone = FaultScenario(
        name: "restore without a safety backup",
        arguments: ["restore", "latest", "--yes", "--no-safety-backup"],
        states: [.before, .new],
        success: .new
    )

    /// What is there and what the backup left out stays in either case; a backup leaves out '*.nosync'.
    static let restoreKeeping = keeping(restoreAlone)
    static let rollBackKeeping = keeping(rollBack)

    private static func keeping(_ scenario: FaultScenario) -> FaultScenario {
        var scenario = scenario
        scenario.name += ", with files that were left out"
        scenario.prepare = { _, trial in
            for name in ["a.nosync", "z.nosync"] {
                let directory = trial.stores.appending(name)
                try LocalFileSystem().createDirectory(directory)
                for file in ["1", "2"] {
                    let bytes = Array("\(name) \(file)".utf8)
                    try LocalFileSystem().write(bytes, to: directory.appending(file))
                }
            }
        }
        return scenario
    }

    /// A store and a directory; what else there is stays.
    static let restorePart = part(of: restoreAlone)
    static let rollBackPart = part(of: rollBack)

    private static func part(of scenario: FaultScenario) -> FaultScenario {
        var scenario = scenario
        scenario.name += ", of a part"
        scenario.only = ["Grocery-Dude.sqlite", "directory"]
        scenario.arguments += ["--only"] + scenario.only
        return scenario
    }

    /// What is there after a restore.
    func restored(_ scene: FaultScene, over before: Contents?) -> Contents {
        guard !only.isEmpty, var contents = before else { return scene.new }
        let isNamed = { (item: Contents.Item) in
            let name = item.path.components[0].description
            return only.contains { name == $0 || name.hasPrefix("\($0)-") }
        }
        contents.items.removeAll(where: isNamed)
        contents.items += scene.new.items.filter(isNamed)
        contents.items.sort { first, second in
            first.path.components.lexicographicallyPrecedes(second.path.components)
        }
        return contents
    }

    static let restoreToNothing = FaultScenario(
        name: "restore where nothing is",
        arguments: ["restore", "latest", "--yes"],
        states: [.before, .new],
        success: .new,
        prepare: { _, trial in try LocalFileSystem().remove(trial.stores) }
    )

    static let restoreElsewhere = FaultScenario(
        name: "restore --target",
        arguments: ["restore", "latest", "--target", "Stores"],
        states: [.before, .new],
        success: .new,
        prepare: { _, trial in try LocalFileSystem().remove(trial.stores) },
        next: ["restore", "latest", "--target", "Other"]
    )

    /// The restored store does not reopen, so that the old ones are put back.
    static let rollBack = FaultScenario(
        name: "restore that rolls back",
        arguments: ["restore", "latest", "--yes", "--no-safety-backup"],
        // Killed before it says that it rolls back, it may succeed after all.
        states: [.before, .new],
        success: .before,
        standing: { calls, trial in
            let store = trial.stores.appending("Grocery-Dude.sqlite")
            guard
                let swap = calls.lastIndex(where: {
                    $0.isExchange(of: trial) || $0.isExchange(of: trial, isPart: true)
                })
            else {
                return nil
            }
            return calls[swap...].first { !$0.isChange && $0.paths == [store] }.map {
                Injection.Failure(call: $0.number, errno: .ioError)
            }
        },
        status: 21
    )

    static let delete = FaultScenario(
        name: "delete",
        arguments: ["delete", "[2026-Jan-01] 09.01 AM", "--yes"],
        states: [.before],
        success: .before
    )

    /// What looks like another archive, of a year before.
    static let oldArchive = "[2025-Jan-01] 09.01 AM Stores.zip"

    /// The newest stays, whatever happens to the others.
    static let prune = FaultScenario(
        name: "prune",
        arguments: ["prune", "--keep-last", "1", "--all-origins"],
        states: [.before],
        success: .before,
        prepare: { scene, trial in
            let paths = [scene.archive, oldArchive].map { trial.remote.appending($0).string }
            try Tool.check("cp", ["-p"] + paths)
            try trial.check("backup")
        }
    )

    /// An increment on a whole backup; the next one is built on what that left.
    static let increment = FaultScenario(
        name: "backup --incremental",
        arguments: ["backup", "--incremental"],
        states: [.before],
        success: .before,
        prepare: { scene, trial in try scene.makeLineage(in: trial, increments: 0) },
        next: ["backup", "--incremental"]
    )

    static let consolidate = FaultScenario(
        name: "consolidate",
        arguments: ["consolidate", "latest"],
        states: [.before],
        success: .before,
        prepare: { scene, trial in try scene.makeLineage(in: trial, increments: 2) }
    )

    static let undelete = FaultScenario(
        name: "undelete",
        arguments: ["undelete", "[2026-Jan-01] 09.01 AM"],
        states: [.before],
        success: .before,
        prepare: { _, trial in try trial.check("delete", "[2026-Jan-01] 09.01 AM", "--yes") }
    )

    /// What comes after a restore that was killed: the recovery, which may itself be killed.
    static func recovery(after killed: FaultScenario, at place: Place) -> FaultScenario {
        var scenario = killed
        scenario.name = "recovery after a \(killed.name) killed \(place.rawValue)"
        scenario.arguments = ["list"]
        scenario.standing = { _, _ in nil }
        scenario.status = 0
        scenario.success = nil
        scenario.isRecovery = true
        let name = scenario.name
        scenario.prepare = { scene, trial in
            let injection = try kills.withLock { $0[name] } ?? killed.kill(at: place, scene)
            kills.withLock { $0[name] = injection }
            #expect(try trial.run(killed.arguments, injecting: injection).outcome.status == 137)
        }
        return scenario
    }

    /// The kills that recoveries are prepared with, by their names: to find one takes two runs.
    private static let kills = Mutex<[String: Injection]>([:])

    /// The scenario's own faults, and the kill at the last call of a place.
    private func kill(at place: Place, _ scene: FaultScene) throws -> Injection {
        let model = try trial(scene)
        let plain = try undisturbed(model, scene).calls
        var injection = injection(with: standing(plain, model))
        let call = try #require(
            calls(scene, injection).last(where: place.matches),
            "a \(name) has no call \(place.rawValue)"
        )
        injection.kill = call.number
        return injection
    }

    /// A fresh copy of the scene, as the scenario wants it.
    func trial(_ scene: FaultScene) throws -> Trial {
        try scene.trial(isMounted: isMounted)
    }

    /// Where a restore is killed, so that there is something to recover.
    enum Place: String, Sendable {
        case staging = "while it unpacks"
        case swapping = "amid the swap"
        case cleaningUp = "while it removes what was there"
        case rollingBack = "amid the roll back"

        // In a mount point.

        case settingAside = "while what was there moves out"
        case puttingIn = "while what is restored moves in"
        case takingOut = "while what was restored moves out"
        case puttingBack = "while what was there moves back"

        fileprivate func matches(_ call: SystemCall) -> Bool {
            let name = call.paths.last?.lastComponent?.string
            let isRename = call.name.hasPrefix("rename")
            func isIn(_ directory: String, _ path: FilePath?) -> Bool {
                isRename && path?.removingLastComponent().lastComponent?.string == directory
            }
            return switch self {
            case .staging: call.name == "utimensat" && name == "large"
            case .swapping:
                isRename && ["Stores_Old", "Stores"].contains(name)
                    && call.paths.first?.lastComponent?.string == "Stores_New"
            case .cleaningUp: call.name == "rmdir" && ["Stores_Old", "Old"].contains(name)
            case .rollingBack: isRename && name == "Stores_FailedRestore"
            case .settingAside: isIn("Old", call.paths.last)
            case .puttingIn: isIn("New", call.paths.first)
            case .takingOut: isIn("FailedRestore", call.paths.last)
            case .puttingBack: isIn("Old", call.paths.first)
            }
        }
    }

    /// Runs the command with nothing but the scenario's own faults, and sees it succeed.
    func undisturbed(_ trial: Trial, _ scene: FaultScene) throws -> InjectedRun {
        try prepare(scene, trial)
        let run = try trial.run(arguments(in: trial), injecting: injection)
        try #require(run.outcome.status == 0, "\(name): \(run.outcome.errors)")
        #expect(!run.changes.isEmpty, "\(name) changes nothing")
        return run
    }

    /// The arguments, with paths made absolute.
    func arguments(in trial: Trial) -> [String] { absolute(arguments, in: trial) }

    func absolute(_ arguments: [String], in trial: Trial) -> [String] {
        let paths = [
            "Stores": trial.stores, "Other": trial.other, "Key": trial.key, "Found": trial.found,
        ]
        return arguments.map { paths[$0]?.string ?? $0 }
    }
}

extension SystemCall {
    /// Whether it brings the new stores into the place of the stores directory, or their store.
    func isExchange(of trial: Trial, isPart: Bool = false) -> Bool {
        guard name.hasPrefix("rename"), !isFault, paths.count == 2 else { return false }
        guard trial.isMounted || isPart else {
            return Set(paths) == [trial.stores, trial.root.appending("Stores_New")]
        }
        return paths[0].removingLastComponent().lastComponent?.string == "New"
            && paths[1] == trial.stores.appending("Grocery-Dude.sqlite")
    }
}
