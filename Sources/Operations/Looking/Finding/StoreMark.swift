internal import Archives
internal import Backups
internal import Files
internal import Stores

/// The information about a store in one state that is available without reading it.
enum StoreMark: Hashable {
    /// The digest of its content: stores with the same digest have the same pages.
    case content(Digest)
    /// A store of the state with this number that equals no other: only reading it shows its content.
    case other(Int)
    /// It is not known whether the state has its rows; the reason.
    case unknown(String)
}

/// The information about all stores of one state that is available without reading them.
struct StoreMarks {
    private let marks: [ExactString: StoreMark]
    /// The patterns of what the backup left out, as far as the manifest records them.
    private let patterns: [PathPattern]
    private let leftOut: Set<ExactString>
    /// The reasons why files or directories could not be read.
    private let unread: [RelativePath: String]

    /// Creates the marks of the stores in a stores directory.
    ///
    /// - Parameters:
    ///   - stores: the paths of the stores.
    ///   - failures: the paths that could not be read, with the errors.
    ///   - number: the state's number.
    init(live stores: [String], failures: [(path: RelativePath, error: any Error)], number: Int) {
        marks = Dictionary(stores.map { ($0.exact, .other(number)) }) { $1 }
        unread = Dictionary(failures.map { ($0.path, explain($0.error)) }) { $1 }
        (patterns, leftOut) = ([], [])
    }

    /// Creates the marks of a backup's stores from its manifest, without reading a store.
    ///
    /// - Parameters:
    ///   - contents: the stores of the backup.
    ///   - excluded: what the backup left out.
    ///   - number: the state's number.
    /// - Throws: `PathPatternError`.
    init(of contents: StoreContents, leavingOut excluded: Excluded?, number: Int) throws {
        unread = [:]
        patterns = try excluded?.rules().patterns ?? []
        leftOut = Set((excluded?.paths ?? []).map(\.exact))
        var marks: [ExactString: StoreMark] = [:]
        for (path, items) in contents.stores {
            marks[path.exact] = Self.digest(of: items).map { .content($0) } ?? .other(number)
        }
        for problem in contents.problems where marks[problem.path.exact] == nil {
            switch problem.kind {
            case .damagedStore: marks[problem.path.exact] = .unknown("the backup has it damaged")
            case .unreadable: marks[problem.path.exact] = .unknown("the backup could not read it")
            default: break
            }
        }
        self.marks = marks
    }

    /// The paths of the readable stores.
    var readable: [String] {
        marks.filter { if case .unknown = $0.value { false } else { true } }.keys.sorted()
            .map(\.text)
    }

    /// Returns the mark of a store; `nil` if the state does not contain it.
    subscript(path: String) -> StoreMark? {
        if let mark = marks[path.exact] { return mark }
        if !unread.isEmpty, let store = RelativePath(printed: path) {
            for part in sequence(first: store, next: \.parent) {
                if let reason = unread[part] { return .unknown(reason) }
            }
        }
        return isLeftOut(path) ? .unknown("the backup left it out") : nil
    }

    private func isLeftOut(_ path: String) -> Bool {
        guard !patterns.isEmpty || !leftOut.isEmpty, let store = RelativePath(printed: path) else {
            return false
        }
        return sequence(first: store, next: \.parent).contains { part in
            leftOut.contains(part.description.exact)
                || patterns.verdict(on: part, isDirectory: part != store) ?? false
        }
    }

    /// Returns a digest of a store and the log beside it; `nil` if the manifest does not record their digests.
    private static func digest(of items: [ArchiveItem]) -> Digest? {
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
