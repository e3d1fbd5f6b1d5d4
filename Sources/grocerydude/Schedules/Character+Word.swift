extension Character {
    /// Returns whether it is an ASCII letter or digit, or one of some others.
    func isWord(or others: String) -> Bool {
        isASCII && (isLetter || isNumber || others.contains(self))
    }

    /// The characters besides those that neither a shell nor systemd gives a meaning.
    static let plain = "/-_.=:,@+"
}
