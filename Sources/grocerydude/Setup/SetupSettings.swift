internal import Files
internal import Foundation
internal import Operations
internal import Remotes

/// The settings of a setup's answers that are not in force yet.
struct SetupSettings {
    private let answers: SetupAnswers
    private let site: SetupSite

    /// The longest time by which a backup may be late.
    private static let patience: TimeInterval = 2 * 3600
    /// The text in place of a key that is not known yet.
    private static let newKey = KeySettings.passwordWord

    init(_ answers: SetupAnswers, at site: SetupSite) {
        (self.answers, self.site) = (answers, site)
    }

    /// The changes; `nil` for a setting that goes.
    ///
    /// Throws errors of keys.
    var changes: LinkedPlace.Changes {
        get throws {
            try wanted.filter { key, value in
                let present = Setting.all.first { $0.key == key }?.show(site.profile).lines ?? []
                return present.joined(separator: "\n") != value ?? ""
            }
        }
    }

    private var wanted: LinkedPlace.Changes {
        get throws {
            var wanted: LinkedPlace.Changes = [("schedule", answers.schedule.description)]
            wanted += retention + encryption
            // A rehearsal needs the secret key.
            if try !answers.encrypts || site.opensBackups { wanted += checks }
            if let age = maxAge, site.owns("max_age") { wanted.append(("max_age", age)) }
            if let notify = answers.notify {
                let text = notify.isEmpty ? nil : notify.joined(separator: "\n")
                wanted.append((SetupAnswers.notifyKey, text))
            }
            return wanted
        }
    }

    private var retention: LinkedPlace.Changes {
        guard let keep = answers.keep else { return [] }
        let isFrequent = answers.schedule.pace != nil || gap.map { $0 < 86_400 } ?? false
        let counts = keep.counts(isFrequent: isFrequent)
        return [("prune", "true")]
            + RetentionPolicy.Period.allCases.map { period in
                let key = "retention.keep_\(period.rawValue)"
                // What a person's file keeps is undone by a number, not by silence.
                let present = site.profile.retention.counts[period]
                let none = site.owns(key) || present == nil ? nil : "0"
                return (key, counts[period].map(String.init) ?? none)
            }
    }

    /// A check restores the newest backup for trial: often if that is on this machine.
    private var checks: LinkedPlace.Changes {
        guard site.owns("check.schedule"), site.owns("check.restore") else { return [] }
        let isElsewhere = RemoteAddress(answers.folder.address).isOfRclone
        return [
            ("check.schedule", isElsewhere ? "monthly 1 05:00" : "weekly sun 05:00"),
            ("check.restore", "true"),
        ]
    }

    private var encryption: LinkedPlace.Changes {
        let isEncrypted = !site.profile.keys.recipients.isEmpty
        guard answers.encrypts != isEncrypted else { return [] }
        return [("recipients", answers.encrypts ? Self.newKey : KeySettings.noneWord)]
    }

    private var gap: TimeInterval? {
        answers.schedule.longestGap(from: site.invocation.now, in: site.invocation.timeZone)
    }

    /// The age at which the newest backup is too old; `nil` if only the scheduler knows when one is made.
    private var maxAge: String? {
        gap.map { ShownValue.duration(.seconds(Int($0 + Self.patience))).lines[0] }
    }

    /// Returns the changes with the public key in its place.
    static func naming(_ recipient: String?, in changes: LinkedPlace.Changes) -> LinkedPlace.Changes
    {
        changes.map { key, value in
            (key, key == "recipients" && value == newKey ? recipient ?? value : value)
        }
    }
}
