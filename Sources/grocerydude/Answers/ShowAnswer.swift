internal import Age
internal import Stores
internal import Files
internal import Backups
internal import Operations

/// The contents of a backup, or of the stores directory as it is now.
struct ShowAnswer: Answer, JSONConvertible {
    /// The backup; `nil` for the stores directory.
    private let backup: Backup?
    private let header: ManifestHeader?
    private let displayName: String
    private let origin: String?
    private let neededBy: [Backup]
    private let bytes: Int64
    private var stores: [StoreFacts]
    private let problems: [Problem]
    private let files: [ShowBackup.File]
    private let invocation: Invocation
    /// Whether to print only a tree of the files.
    var isTree = false

    init(_ outcome: ShowBackup.Outcome, _ invocation: Invocation) {
        (backup, header, neededBy) = (outcome.backup, outcome.header, outcome.neededBy)
        (displayName, origin) = (outcome.backup.displayName, outcome.backup.originName)
        (stores, problems) = (outcome.header?.stores ?? [], outcome.problems)
        (files, bytes, self.invocation) = (outcome.files, outcome.bytes, invocation)
    }

    /// Describes the stores directory as it is now.
    init(_ live: LiveContent, _ invocation: Invocation) {
        (backup, header, neededBy) = (nil, nil, [])
        (displayName, origin) = (printable(live.path), invocation.origin.name)
        (stores, problems) = (live.stores, live.problems)
        (files, self.invocation) = (live.files, invocation)
        bytes = files.reduce(0) { $1.type == "file" ? $0.addingSaturated($1.size) : $0 }
    }

    private var name: String { backup?.name ?? LiveStores.name }
    private var time: LocalTime? {
        backup.map { $0.time.map(invocation.local) } ?? invocation.local(invocation.now)
    }

    var json: JSONObject {
        [
            "name": name, "displayName": displayName, "time": time, "tool": header?.tool,
            "reason": header?.reason, "origin": origin,
            "signedBy": backup?.signerKey?.fingerprint, "signer": backup?.signer,
            "distrust": backup?.distrust?.description, "format": header?.format,
            "size": backup?.size ?? bytes,
            "kind": backup.map { $0.isIncrement ? "increment" : "full" } ?? "live",
            "needs": backup?.needs.map(\.name) ?? [], "neededBy": neededBy.map(\.name),
            "bytes": bytes, "stores": stores, "problems": problems, "excluded": header?.excluded,
            "files": files.map { $0.json(invocation) },
        ]
    }

    /// Keeps only the stores that are among the files.
    mutating func keepStoresOfFiles() {
        let paths = Set(files.map(\.path.exact))
        stores = stores.filter { paths.contains($0.path.exact) }
    }

    func write(to console: Console) {
        if isTree { return console.answer(lines: PathTree(files).lines) }
        console.answer(backup == nil ? "'\(displayName)' as it is now" : name)
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
        console.answer(lines: files.lines(invocation))
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
            ? "rows refer to \(files), \(backup == nil ? "which are there" : "in the backup")"
            : "rows refer to \(files), \(missing) of them missing"
    }

    /// The exclusion rules and the excluded files.
    private var exclusions: [[String]] {
        guard let excluded = header?.excluded else { return [] }
        let rules = excluded.patterns + (excluded.caches ? ["caches"] : [])
        let more = excluded.count - excluded.paths.count
        return [["excludes", rules.map { printable(bytes: $0.utf8) }.joined(separator: ", ")]]
            + excluded.paths.map { ["left out", $0] }
            + (more > 0 ? [["left out", "\(more) more"]] : [])
    }

    /// The backups that it needs, and those that need it.
    private var dependence: [[String]] {
        (backup?.needs ?? []).map { ["needs", BackupName.display($0.name)] }
            + neededBy.map { ["needed by", BackupName.display($0.name)] }
    }

    /// The origin and the signature of the backup.
    private var makers: [[String]] {
        let signed =
            backup?.signer.map { "by \($0)" }
            ?? backup?.distrust.map { "counts for nothing: \($0.description)" }
        let key = backup?.signer == nil ? "" : backup?.signerKey.map { ", \($0.fingerprint)" } ?? ""
        return (origin.map { [["of", printable(bytes: $0.utf8)]] } ?? [])
            + (signed.map { [["signed", printable(bytes: "\($0)\(key)".utf8)]] } ?? [])
    }

    private var facts: [[String]] {
        guard let backup else {
            return [["size", byteCount(bytes)]]
                + problems.summarized.map { ["problem", $0.description] }
        }
        return [
            ["made", "\(time?.description ?? "unknown") by \(header?.tool ?? "another program")"],
            ["size", "\(byteCount(backup.size)), \(byteCount(bytes)) unpacked"],
        ] + makers + dependence + (header?.reason.map { [["reason", $0]] } ?? []) + exclusions
            + problems.summarized.map { ["problem", $0.description] }
    }
}

extension ShowBackup.File {
    /// Returns the file in JSON, with its time as it is here.
    func json(_ invocation: Invocation) -> JSONObject {
        [
            "path": path, "type": type, "size": size, "compressedSize": compressedSize,
            "modified": invocation.local(modified), "mode": mode,
        ]
    }
}

extension [ShowBackup.File] {
    /// Returns a line for each file.
    func lines(_ invocation: Invocation) -> [String] {
        let rows = map { file in
            let size = file.type == "file" ? byteCount(file.size) : file.type
            return [file.mode, size, invocation.local(file.modified).description, file.path]
        }
        return Columns(rows: rows, right: [1]).lines
    }
}
