internal import Foundation

/// A mask for known secrets in texts that people and other programs see.
struct SecretMask: Sendable {
    private let secrets: [String]

    /// Creates a mask for secrets, which may have percent signs for other characters as in a URL.
    init(_ secrets: some Sequence<String>) {
        let forms = secrets.flatMap { [$0, $0.removingPercentEncoding ?? $0] }
        // A shorter one would match parts of ordinary words. A longer one may contain another.
        self.secrets = Set(forms).filter { $0.count > 3 }.sorted { ($1.count, $1) < ($0.count, $0) }
    }

    /// Returns a text without the secrets.
    func callAsFunction(_ text: String) -> String {
        secrets.reduce(text) { $0.replacing($1, with: Self.hidden) }
    }

    static let hidden = "…"
}
