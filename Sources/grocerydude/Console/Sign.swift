/// A sign of strips and calendars, which needs no colour.
///
/// All output that asks for signs beyond ASCII asks here.
struct Sign: CustomStringConvertible {
    static let nothing = Sign("·", ".")
    static let skipped = Sign("–", "-")
    static let done = Sign("✓", "+")
    static let failed = Sign("✗", "x")
    static let both = Sign("±", "*")
    static let ellipsis = Sign("…", "...")

    /// The sign on a page, which always has Unicode.
    let page: String
    private let plain: String

    init(_ page: String, _ plain: String) { (self.page, self.plain) = (page, plain) }

    /// Creates a sign that is ASCII everywhere.
    init(_ plain: String) { self.init(plain, plain) }

    /// The sign on a terminal: in ASCII if the locale has no Unicode.
    var description: String { ProcessEnvironment.isUnicode ? page : plain }
}
