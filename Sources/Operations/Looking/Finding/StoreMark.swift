internal import Archives
internal import Backups
internal import Files
internal import Stores

/// What is known of a store in one state without reading it.
enum StoreMark: Hashable {
    /// Its content: of two stores with the same digest each page is the same.
    case content(Digest)
    /// One that is like no other, of the state of this number: what is in it is known only by reading it.
    case other(Int)
    /// It is not known whether its rows are there; why.
    case unknown(String)
}

/// What is known of all stores in one state.
struct StoreMarks {
    private let marks: [String: StoreMark]
    /// What was left out, as far as it is told.
    private let patterns: [PathPattern]
    private let leftOut: Set<String>

    /// Takes the stores of a stores directory.
    init(live stores: [String], number: Int) {
        marks = Dictionary(stores.map { ($0, .other(number)) }) { $1 }
        (patterns, leftOut) = ([], [])
    }

    /// Takes what a backup's manifest says of the stores, without reading one.
    ///
    /// - Parameters:
    ///   - contents: the backup's.
    ///   - excluded: what it left out.
    ///   - number: the state's.
    /// - Throws: `PathPatternError`.
    init(of contents: StoreContents, leavingOut excluded: Excluded?, number: Int) throws {
        patterns = try excluded?.rules().patterns ?? []
        leftOut = Set(excluded?.paths ?? [])
        var marks: [String: StoreMark] = [:]
        for (path, items) in contents.stores {
            marks[path] = Self.digest(of: items).map { .content($0) } ?? .other(number)
        }
        for problem in contents.problems where marks[problem.path] == nil {
            switch problem.kind {
            case .damagedStore: marks[problem.path] = .unknown("the backup has it damaged")
            case .unreadable: marks[problem.path] = .unknown("the backup could not read it")
            default: break
            }
        }
        self.marks = marks
    }

    /// The paths of the stores that can be read.
    var readable: [String] {
        marks.compactMap { path, mark in
            if case .unknown = mark { nil } else { path }
        }.sorted()
    }

    /// Returns what is known of a store; `nil` if it is not there.
    subscript(path: String) -> StoreMark? {
        if let mark = marks[path] { return mark }
        return isLeftOut(path) ? .unknown("the backup left it out") : nil
    }

    private func isLeftOut(_ path: String) -> Bool {
        guard !patterns.isEmpty || !leftOut.isEmpty, let store = try? RelativePath(path) else {
            return false
        }
        return sequence(first: store, next: \.parent).contains { part in
            leftOut.contains(part.description)
                || patterns.verdict(on: part, isDirectory: part != store) ?? false
        }
    }

    /// Returns a digest of a store and the log beside it; `nil` if no manifest tells theirs.
    private static func digest(of items: [ArchiveExtractor.Item]) -> Digest? {
        var sum = RunningDigest()
        for item in items {
            guard let digests = item.patched?.digests ?? item.segments?.map(\.digest) else {
                return nil
            }
            let head = "\(item.attributes.path) \(item.size) \(digests.count)"
            Array(head.utf8).withUnsafeBytes { sum.update($0) }
            for digest in digests { digest.withUnsafeBytes { sum.update($0) } }
        }
        return sum.digest
    }
}
