extension Character {
    /// Returns whether it is an ASCII letter or digit, or one of some others.
    func isWord(or others: String) -> Bool {
        isASCII && (isLetter || isNumber || others.contains(self))
    }

    /// Other characters that have no meaning of their own to a shell or systemd.
    static let plain = "/-_.=:,@+"
}
