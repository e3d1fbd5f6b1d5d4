/// The public keys of a profile.
struct KeyShowAnswer: Answer {
    /// Whether new backups are encrypted; with a password if there are no recipients.
    var encrypts: Bool
    /// Those that backups are encrypted for.
    var recipients: [String]
    /// Those of the secret keys at hand.
    var identities: [String]

    func write(to console: Console) {
        if !encrypts { console.answer("backups are not encrypted") }
        if encrypts, recipients.isEmpty { console.answer("backups are encrypted with a password") }
        for recipient in recipients {
            let own = identities.contains(recipient) ? ", and the secret key is at hand" : ""
            console.answer("\(recipient)  for backups\(own)")
        }
        for identity in identities where !recipients.contains(identity) {
            console.answer("\(identity)  the secret key is at hand")
        }
    }
}
