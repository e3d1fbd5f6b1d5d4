internal import Operations
internal import Remotes

/// The answer about a folder that was linked now or before.
struct LinkAnswer: Answer {
    var profile: String?
    var remote: String
    /// The configuration file with the link.
    var configuration: String
    /// Whether it was linked to this folder before.
    var isOld: Bool
    /// The folder that was linked before.
    var replaced: String?
    var account: String?
    var space: RemoteSpace?
    private let facts: FolderFacts

    private enum CodingKeys: String, CodingKey {
        case profile, remote, configuration, replaced, account, space
        case isOld = "alreadyLinked"
    }

    init(
        _ profile: String?,
        to remote: String,
        in configuration: String,
        isOld: Bool = false,
        replaced: String? = nil,
        _ facts: FolderFacts
    ) {
        self.profile = profile
        self.remote = remote
        self.configuration = configuration
        self.isOld = isOld
        self.replaced = replaced
        account = facts.account
        space = facts.space
        self.facts = facts
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
