internal import Foundation

/// The growth of a text by its aliases while it is parsed.
///
/// The parser compares keys, and expands an alias for that: a few lines can make more nodes than there
/// are atoms. So the text is checked first: n uses of d anchors make at most (n/d)^d copies of a node.
struct AliasExpansion {
    let isBounded: Bool

    private static let copiesLimit = 100_000.0

    init(of text: String) {
        let anchors = Self.names(after: "&", in: text)
        let defined = Set(anchors)
        let uses = Self.names(after: "*", in: text).filter(defined.contains).count
        let mostCopies = (1...max(1, anchors.count)).map {
            pow(Double(uses) / Double($0), Double($0))
        }
        .max()
        isBounded = (mostCopies ?? 0) <= Self.copiesLimit
    }

    private static func names(after mark: Character, in text: String) -> [Substring] {
        text.split(separator: mark, omittingEmptySubsequences: false).dropFirst()
            .map { $0.prefix { $0.isWord(or: "_-") } }
            .filter { !$0.isEmpty }
    }
}
