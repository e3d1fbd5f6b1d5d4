internal import Age
internal import Stores
internal import Files
internal import Backups
internal import Operations

/// The contents of a backup.
struct ShowAnswer: Answer {
    var name: String
    var displayName: String
    var time: LocalTime?
    var tool: String?
    var reason: String?
    /// The name of the machine and the stores directory according to its manifest.
    var origin: String?
    /// The fingerprint of the key that signed it.
    var signedBy: String?
    /// The name of the trusted machine with that key.
    var signer: String?
    /// The reason why it does not count; `nil` if a trusted machine signed it.
    var distrust: String?
    var format: Int?
    var size: Int64
    /// The kind: `full`, `increment` for one that is built on others, or `live` for the stores directory.
    var kind: String
    /// The names of the backups that an increment is built on, the full one first.
    var needs: [String]
    /// The names of the backups that cannot be restored without it, newest first.
    var neededBy: [String]
    var bytes: Int64
    var stores: [StoreFacts]
    var problems: [Problem]
    var excluded: Excluded?
    var files: [File]

    /// Whether to print only a tree of the files.
    var isTree = false

    private enum CodingKeys: String, CodingKey {
        case name, displayName, time, tool, reason, format, size, kind, needs, neededBy, bytes,
            stores
        case origin, signedBy, signer, distrust, problems, excluded, files
    }

    struct File: Encodable {
        var path: String
        var type: String
        var size: Int64
        var compressedSize: Int64
        var modified: LocalTime
        var mode: String

        init(_ file: ShowBackup.File, _ invocation: Invocation) {
            path = file.path
            type = file.type
            size = file.size
            compressedSize = file.compressedSize
            modified = invocation.local(file.modified)
            mode = file.mode
        }

        /// Returns a line for each file.
        static func lines(_ files: [File]) -> [String] {
            let rows = files.map { file in
                let size = file.type == "file" ? byteCount(file.size) : file.type
                return [file.mode, size, file.modified.description, file.path]
            }
            return Columns(rows: rows, right: [1]).lines
        }
    }

    init(_ outcome: ShowBackup.Outcome, _ invocation: Invocation) {
        name = outcome.backup.name
        displayName = outcome.backup.displayName
        time = outcome.backup.time.map(invocation.local)
        tool = outcome.header?.tool
        reason = outcome.header?.reason
        origin = outcome.backup.originName
        signedBy = outcome.backup.signerKey?.fingerprint
        signer = outcome.backup.signer
        distrust = outcome.backup.distrust?.description
        format = outcome.header?.format
        size = outcome.backup.size
        kind = outcome.backup.isIncrement ? "increment" : "full"
        needs = outcome.backup.needs.map(\.name)
        neededBy = outcome.neededBy.map(\.name)
        bytes = outcome.bytes
        stores = outcome.header?.stores ?? []
        problems = outcome.problems
        excluded = outcome.header?.excluded
        files = outcome.files.map { File($0, invocation) }
    }

    /// Describes the stores directory as it is now.
    init(_ live: ShowLive.Outcome, _ invocation: Invocation) {
        name = LiveStores.name
        displayName = printable(live.path)
        time = invocation.local(invocation.now)
        origin = invocation.origin.name
        kind = "live"
        (needs, neededBy) = ([], [])
        stores = live.stores
        problems = live.problems
        files = live.files.map { File($0, invocation) }
        bytes = files.reduce(0) { $1.type == "file" ? $0.addingSaturated($1.size) : $0 }
        size = bytes
    }

    /// Keeps only the stores that are among the files.
    mutating func keepStoresOfFiles() {
        let paths = Set(files.map(\.path.exact))
        stores = stores.filter { paths.contains($0.path.exact) }
    }

    func write(to console: Console) {
        if isTree { return console.answer(lines: PathTree(files).lines) }
        console.answer(isLive ? "'\(displayName)' as it is now" : name)
        console.answer(columns: Columns(rows: facts))
        for store in stores {
            let kind = store.kind == .coreData ? "Core Data store" : "SQLite store"
            console.answer("")
            console.answer(
                "\(store.path)  (\(kind), \(store.pageCount) pages of \(store.pageSize) bytes)"
            )
            if let references = references(of: store) { console.answer("  \(references)") }
            let tables = store.tables.map { table in
                ["  \(table.name)", table.rows.map { "\($0) rows" } ?? "rows cannot be counted"]
            }
            console.answer(lines: Columns(rows: tables).lines)
        }
        console.answer("")
        console.answer(lines: File.lines(files))
    }

    /// Returns the number of files that a store's rows refer to, and whether the backup has them, according to its
    /// problems.
    private func references(of store: StoreFacts) -> String? {
        guard let count = store.externalReferences else { return nil }
        guard count > 0 else { return "rows refer to no files" }
        let directory = RelativePath(printed: store.path).map(Store.externalDataDirectory)
        let missing = problems.count { problem in
            problem.kind == .missingExternalData
                && RelativePath(printed: problem.path)?.parent == directory
        }
        let files = counted(Int(clamping: count), "file", "files")
        return missing == 0
            ? "rows refer to \(files), \(isLive ? "which are there" : "in the backup")"
            : "rows refer to \(files), \(missing) of them missing"
    }

    /// The exclusion rules and the excluded files.
    private var exclusions: [[String]] {
        guard let excluded else { return [] }
        let rules = excluded.patterns + (excluded.caches ? ["caches"] : [])
        let more = excluded.count - excluded.paths.count
        return [["excludes", rules.map { printable(bytes: $0.utf8) }.joined(separator: ", ")]]
            + excluded.paths.map { ["left out", $0] }
            + (more > 0 ? [["left out", "\(more) more"]] : [])
    }

    /// The backups that it needs, and those that need it.
    private var dependence: [[String]] {
        needs.map { ["needs", BackupName.display($0)] }
            + neededBy.map { ["needed by", BackupName.display($0)] }
    }

    /// The origin and the signature of the backup.
    private var makers: [[String]] {
        let signed = signer.map { "by \($0)" } ?? distrust.map { "counts for nothing: \($0)" }
        let key = signedBy.map { signer == nil ? "" : ", \($0)" } ?? ""
        return (origin.map { [["of", printable(bytes: $0.utf8)]] } ?? [])
            + (signed.map { [["signed", printable(bytes: "\($0)\(key)".utf8)]] } ?? [])
    }

    private var isLive: Bool { kind == "live" }

    private var facts: [[String]] {
        guard !isLive else {
            return [["size", byteCount(bytes)]]
                + problems.summarized.map { ["problem", $0.description] }
        }
        return [
            ["made", "\(time?.description ?? "unknown") by \(tool ?? "another program")"],
            ["size", "\(byteCount(size)), \(byteCount(bytes)) unpacked"],
        ] + makers + dependence + (reason.map { [["reason", $0]] } ?? []) + exclusions
            + problems.summarized.map { ["problem", $0.description] }
    }
}
