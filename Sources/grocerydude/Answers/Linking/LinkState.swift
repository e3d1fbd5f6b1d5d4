internal import Files
internal import Operations
internal import Remotes

/// A remote folder's link, account and space.
struct LinkState: JSONConvertible {
    let facts: FolderFacts
    let invocation: Invocation

    private var origin: Origin { invocation.profile.origin(of: "remote") }

    var json: JSONObject {
        [
            "linked": origin.file != nil, "account": facts.account, "space": facts.space,
            "suspended": invocation.suspension == nil ? nil : invocation.profile.suspended,
        ]
    }

    /// The lines about it in the status.
    var rows: [[String]] {
        let state =
            switch origin {
            case .file: "linked to \(facts.phrase(for: invocation.address))"
            case .default: "not linked: 'grocerydude link DIR' sends backups to a folder of yours"
            case .flag, .environment: "not linked: named by \(origin)"
            }
        return [["link", state]] + (facts.spaceText.map { [["space", $0]] } ?? [])
            + (invocation.suspension.map { [["suspended", $0]] } ?? [])
    }

    /// The words for backups that go to the built-in folder.
    static let unlinked = "not linked: 'grocerydude setup' sends backups to a folder of yours"

    /// Returns a line about the folder of a list, and what waits for it.
    static func line(
        _ facts: FolderFacts,
        isReached: Bool,
        waiting: Int,
        usedBy holder: LockHolder?,
        _ invocation: Invocation
    ) -> String {
        let origin = invocation.profile.origin(of: "remote")
        let place = facts.phrase(for: invocation.address)
        let link =
            switch origin {
            case .file: "linked to \(place)"
            case .default: unlinked
            case .flag, .environment: "\(place), named by \(origin)"
            }
        let parts = [
            isReached ? nil : "not reachable",
            waiting == 0
                ? nil
                : counted(waiting, "backup waits for upload", "backups wait for upload"),
            holder.map { "in use by \(Console.shown($0))" },
            invocation.suspension,
        ]
        return ([link] + parts.compactMap(\.self)).joined(separator: "; ")
    }
}

extension FolderFacts {
    /// The space in the form `1.20 GB of 2.00 GB used`.
    var spaceText: String? {
        guard let space else { return nil }
        if let used = space.used, let total = space.total {
            return "\(byteCount(used)) of \(byteCount(total)) used"
        }
        return space.free.map { "\(byteCount($0)) free" }
    }

    /// Returns an address and its account in the form for people.
    func phrase(for address: String) -> String {
        RemoteAddress(address).place + (account.map { " as \($0)" } ?? "")
    }
}
