internal import Operations
internal import Remotes

/// The answer about a folder that was linked now or before.
struct LinkAnswer: Answer, JSONConvertible {
    let profile: String?
    let remote: String
    /// The configuration file with the link.
    var configuration = ""
    /// Whether it was linked to this folder before.
    var isOld = false
    /// The folder that was linked before.
    var replaced: String?
    var facts = FolderFacts()

    var json: JSONObject {
        [
            "profile": profile, "remote": remote, "configuration": configuration,
            "alreadyLinked": isOld, "replaced": replaced, "account": facts.account,
            "space": facts.space,
        ]
    }

    func write(to console: Console) {
        let who = profile.map { "'\($0)' " } ?? ""
        let place = facts.phrase(for: remote)
        let space = facts.spaceText.map { " (\($0))" } ?? ""
        console.done(
            isOld
                ? "\(who)is already linked to \(place)\(space)".trimmed
                : "linked \(who)to \(place)\(space)"
        )
        if let replaced {
            console.message("it was linked to '\(replaced)': the backups there stay")
        }
    }
}

extension String {
    /// The text without a leading "is ": without a subject, the sentence begins with the participle.
    fileprivate var trimmed: String { hasPrefix("is ") ? String(dropFirst(3)) : self }
}
