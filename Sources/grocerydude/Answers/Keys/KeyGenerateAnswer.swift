/// A new key.
struct KeyGenerateAnswer: Answer {
    /// The file of the secret key.
    var path: String
    /// The public key.
    var recipient: String

    /// The most letters of a key that are said twice.
    private static let shownLimit = 200

    func write(to console: Console) {
        console.done(recipient)
        console.message("the secret key is in '\(path)'")
        let print = "grocerydude key print --identity '\(path)'"
        console.message(
            "without that file, all that is encrypted for it is lost: keep a copy elsewhere; \"\(print)\" is for paper"
        )
        // One of both kinds has two thousand letters, and stands above.
        let key = recipient.count < Self.shownLimit ? recipient : "the key above"
        console.message("to encrypt backups, set 'recipients: [\(key)]'")
    }
}
