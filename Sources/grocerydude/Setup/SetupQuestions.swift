internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import SystemPackage

/// The questions of a setup, which options or a person on the terminal answer.
struct SetupQuestions {
    let site: SetupSite
    let options: SetupOptions
    /// The stores directory and the folder, if options name them.
    let given: (stores: String?, folder: String?)
    /// Whether a person is asked; if not, the present settings answer what no option does.
    let asks: Bool

    private var console: Console { site.invocation.console }
    private var profile: Profile { site.profile }

    /// Asks everything.
    ///
    /// - Throws: the reason why an option's value cannot be used; `SetupError.ended`, `CancellationError`.
    func answers() async throws -> SetupAnswers {
        let stores = try await stores()
        let folder = try await folder(for: stores)
        let encrypts = try await encrypts()
        let schedule = try await schedule()
        let keep = try await keep()
        return SetupAnswers(
            stores: stores,
            folder: folder,
            encrypts: encrypts,
            schedule: schedule,
            keep: keep,
            notify: try await notify()
        )
    }

    private func stores() async throws -> FilePath {
        let isSet = profile.origin(of: "stores") != .default
        let isThere = (try? FileInfo.ifPresent(profile.stores)) ?? nil != nil
        let outcome = try await ask(
            "Which directory has the application's data?",
            option: "--stores DIR",
            given: given.stores,
            usual: isSet || isThere ? profile.stores.string : nil
        ) { try site.stores($0) }
        let names = outcome.stores.prefix(3).joined(separator: ", ")
        let more = outcome.stores.count > 3 ? ", …" : ""
        say(
            """
            \(counted(outcome.stores.count, "store", "stores"))\(names.isEmpty ? "" : " (\(names)\(more))"), \
            \(counted(outcome.files, "entry", "entries")), \(byteCount(outcome.size))
            """
        )
        if !outcome.users.isEmpty {
            let users = outcome.users.prefix(3).map(\.description).joined(separator: ", ")
            say("open in \(users), which may keep running")
        }
        for warning in outcome.warnings { console.warn(warning) }
        if isSet, site.invocation.absolute(profile.stores) != outcome.path {
            guard asks || options.replace else {
                throw CommandError.ofOtherStores(
                    profile: profile.name,
                    printable(site.invocation.absolute(profile.stores))
                )
            }
            say(
                "to add a directory instead of replacing this one, run 'grocerydude setup --profile NAME'"
            )
        }
        return outcome.path
    }

    private func folder(for stores: FilePath) async throws -> (text: String, address: String) {
        let linked = try site.linked
        let remotes = asks ? ((try? await RcloneProvider.remotes()) ?? []) : []
        let folder = try await ask(
            "Which folder do its backups go to?",
            [
                "A directory, as on another disk, or 'rclone:REMOTE:PATH', or a provider such as dropbox."
            ]
                + remotes.map { "rclone has 'rclone:\($0):PATH'." },
            option: "--remote FOLDER",
            given: given.folder,
            usual: linked
        ) { try await site.folder($0, for: stores) }
        let shown = site.invocation.address(folder.address)
        say("'\(shown)': \(folder.facts.joined(separator: ", "))")
        if let linked, linked != folder.address {
            let old = site.invocation.address(linked)
            guard asks || options.replace else {
                throw CommandError.alreadyLinked(profile: profile.name, to: old)
            }
            say("the backups in '\(old)' stay there")
        }
        return (folder.text, folder.address)
    }

    private func encrypts() async throws -> Bool {
        let isSet = !profile.keys.recipients.isEmpty
        let isKnown = isSet || (try? site.linked) ?? nil != nil
        return try await ask(
            "Encrypt the backups, so that only your key opens them? (yes or no)",
            option: "--encrypt or --no-encrypt",
            given: options.encrypt.map { $0 ? "yes" : "no" },
            usual: isKnown ? (isSet ? "yes" : "no") : asks ? "yes" : nil
        ) { text in
            switch text.lowercased() {
            case "yes", "y": true
            case "no", "n": false
            default: throw SetupError.noChoice(text, ["yes", "no"])
            }
        }
    }

    private func schedule() async throws -> Schedule {
        try await ask(
            "How often are they made?",
            ["Such as \(Schedule.examples)."],
            option: "--schedule WHEN",
            given: options.schedule,
            usual: profile.schedule?.description ?? "daily 03:30"
        ) { text in
            guard let schedule = Schedule(text) else { throw SetupError.noSchedule(text) }
            guard !schedule.isOver(at: site.invocation.now) else {
                throw ScheduleError.over(schedule)
            }
            guard let kind = site.kind else { return schedule }
            let fits =
                kind == .cron
                ? schedule.cron != nil : schedule.systemd != nil || schedule.pace != nil
            guard fits else { throw ScheduleError.notForKind(schedule, kind) }
            return schedule
        }
    }

    private func keep() async throws -> KeepSpan? {
        let (present, preset) = ("present", KeepSpan(profile.retention))
        let isOwn = preset == nil && !profile.retention.isEmpty
        let words = KeepSpan.allCases.map(\.rawValue) + (isOwn ? [present] : [])
        return try await ask(
            "How long are they kept? (\(words.joined(separator: ", ")))",
            KeepSpan.allCases.map { "\($0.rawValue): \($0.words)." },
            option: "--keep SPAN",
            given: options.keep?.rawValue,
            usual: preset?.rawValue ?? (isOwn ? present : "month")
        ) { text in
            if text == present, isOwn { return nil }
            guard let keep = KeepSpan(rawValue: text.lowercased()) else {
                throw SetupError.noChoice(text, words)
            }
            return keep
        }
    }

    /// Asks whom to notify.
    private func notify() async throws -> [String]? {
        guard let setting = Setting.all.first(where: { $0.key == SetupAnswers.notifyKey }) else {
            return nil
        }
        // What is shown may lack secrets, so that it is no answer.
        let (present, shown) = ("present", setting.show(profile).lines)
        return try await ask(
            "Who is notified when one fails?",
            [
                "mail:ADDRESS, desktop, or a URL such as ntfy's; several with spaces between; or none."
            ]
                + (shown.isEmpty ? [] : ["\(present): \(shown.joined(separator: " "))"]),
            option: "--notify WHOM",
            given: options.notify.isEmpty ? nil : options.notify.joined(separator: " "),
            usual: shown.isEmpty ? "none" : present
        ) { text in
            if text == present, !shown.isEmpty { return nil }
            let texts = text == "none" ? [] : text.split(separator: " ").map(String.init)
            var scratch = Profile()
            do {
                let form = WrittenValue.Form.list(texts.map { .text($0) })
                try setting.read(WrittenValue(form: form, origin: .flag("--notify")), &scratch)
            } catch let error as WrongValue {
                throw ConfigurationError.wrongValue("the answer", error)
            }
            return texts
        }
    }

    /// Asks until an answer can be used; an option's value is used or refused.
    private func ask<Value>(
        _ question: String,
        _ choices: [String] = [],
        option: String,
        given: String?,
        usual: String?,
        _ read: (String) async throws -> Value
    ) async throws -> Value {
        if let given { return try await read(given) }
        guard asks else {
            guard let usual else { throw SetupError.noTerminal(missing: option) }
            return try await read(usual)
        }
        var choices = choices.flatMap { Columns.wrapped($0, within: 80) }
        let prompt = usual.map { "\(question) [\($0)]" } ?? question + " >"
        while let reply = console.prompt(prompt, choices: choices) {
            try Interruption.check()
            choices = []
            let text = reply.trimmingCharacters(in: .whitespaces)
            do {
                return try await read(text.isEmpty ? usual ?? "" : text)
            } catch  where !(error is CancellationError) {
                console.error(error)
            }
        }
        try Interruption.check()
        writeAll("\n", to: 2)
        throw SetupError.ended
    }

    private func say(_ text: String) { if asks { console.message(text) } }
}
