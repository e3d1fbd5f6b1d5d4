/// A new key.
struct KeyGenerateAnswer: Answer {
    /// The file of the secret key.
    var path: String
    /// The public key.
    var recipient: String

    func write(to console: Console) {
        console.done(recipient)
        console.message("the secret key is in '\(path)'")
        console.message(
            "without that file, all that is encrypted for it is lost: keep a copy elsewhere; 'grocerydude key print' is for paper"
        )
        console.message("to encrypt backups, set 'recipients: [\(recipient.prefix(60))]'")
    }
}
