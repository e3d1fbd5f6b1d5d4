/// The signs of strips and calendars, which need no colour; in ASCII if the locale has no Unicode.
///
/// All output that asks for signs beyond ASCII asks here.
enum Sign {
    static var nothing: String { choose("·", ".") }
    static var skipped: String { choose("–", "-") }
    static var done: String { choose("✓", "+") }
    static var failed: String { choose("✗", "x") }
    static var both: String { choose("±", "*") }
    static var ellipsis: String { choose("…", "...") }

    private static func choose(_ sign: String, _ plain: String) -> String {
        ProcessEnvironment.isUnicode ? sign : plain
    }
}
