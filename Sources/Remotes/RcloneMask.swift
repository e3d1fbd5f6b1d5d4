internal import Foundation

/// A mask for the secrets in rclone's address, which may contain options (https://rclone.org/docs/#connection-strings).
///
/// It applies to everything that people and other programs see.
struct RcloneMask: Sendable {
    /// The address without its secrets; it stays the same after a password was changed.
    let shown: String
    private let secrets: [String]

    init(_ place: String) {
        var secrets: [String] = []
        shown = Self.hide(place) { secrets.append($0) }
        // A shorter secret would match parts of ordinary words.
        self.secrets = secrets.filter { $0.count > 2 }
    }

    /// Returns a message of rclone without the secrets.
    ///
    /// The message may contain the address.
    func callAsFunction(_ text: String) -> String {
        secrets.reduce(Self.hide(text) { _ in }) { $0.replacing($1, with: Self.hidden) }
    }

    private static let hidden = "…"

    /// The words in names of options and URL parameters whose values are secrets.
    private static let words = [
        "pass", "secret", "token", "key", "credential", "authorization", "cookie", "header",
        "bearer", "sas_url", "2fa", "otp", "sig",
    ]

    private static func hide(_ text: String, found: (String) -> Void) -> String {
        guard text.contains("=") || text.contains("@") else { return text }
        return
            text
            .replacing(#/([,?&])(\w+)=("(?:[^"]|"")*"?|'(?:[^']|'')*'?|[^,:&]*)/#) {
                match -> String in
                let (start, name, value) = (match.1, match.2, String(match.3))
                guard words.contains(where: name.lowercased().contains) else {
                    // An option's value may be an address itself.
                    return
                        "\(start)\(name)=\(value.prefix(1))\(hide(String(value.dropFirst()), found: found))"
                }
                found(value)
                if let quote = value.first, quote == "\"" || quote == "'" {
                    let inner = String(value.dropFirst().dropLast())
                    found(inner.replacing("\(quote)\(quote)", with: "\(quote)"))
                }
                return "\(start)\(name)=\(hidden)"
            }
            .replacing(#/\/\/([^\/@:\s"']*):([^\s"']+)@/#) { match -> String in
                found(String(match.2))
                return "//\(match.1):\(hidden)@"
            }
    }
}
