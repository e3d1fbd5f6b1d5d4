internal import Foundation

extension RcloneFolder {
    // For S3 and Swift the server's time is used, since any other would need one request per file.
    private static let listOptions = ["--files-only", "--use-server-modtime", "--no-mimetype"]

    /// Returns whether a subfolder is listed together with the remote folder, in one process.
    static func isListedAhead(_ name: String) -> Bool { name.hasPrefix(PartialName.prefix) }

    public func list() async throws -> [RemoteFile] {
        if steps.isEmpty { return try await listAhead() }
        if steps.count == 1, let files = memory.takeSubfolder(steps[0]) { return files }
        return try await listNow()
    }

    /// Lists only this folder.
    func listNow() async throws -> [RemoteFile] {
        do {
            return try await entries([]).filter { $0.Path == $0.Name }.map(\.file)
        } catch RemoteError.missing where !steps.isEmpty {
            // Without the remote folder itself, nothing is known of its subfolder.
            if memory.files == nil { try await memory.take(top.listNow(), subfolders: nil) }
            return []
        }
    }

    /// Lists the remote folder, and its hidden subfolders for later calls.
    private func listAhead() async throws -> [RemoteFile] {
        let hidden = "/\(PartialName.prefix)*/*"
        let options = ["--recursive", "--max-depth", "2", "--include", "/*", "--include", hidden]
        let entries: [Entry]
        do {
            entries = try await self.entries(options)
        } catch let error as RemoteError where error.mayBeOfSubfolder {
            // Backups can be found without the subfolder.
            let files = try await listNow()
            memory.take(files, subfolders: nil)
            return files
        }
        var files: [RemoteFile] = []
        var subfolders: [String: [RemoteFile]] = [:]
        for entry in entries {
            let file = entry.file
            // Bytes are counted, since an accent at a name's beginning would form one character with the slash.
            let subfolder = Substring(entry.Path.utf8.dropLast(entry.Name.utf8.count + 1))
            if subfolder.isEmpty {
                files.append(file)
            } else {
                subfolders[String(subfolder), default: []].append(file)
            }
        }
        memory.take(files, subfolders: subfolders)
        return files
    }

    /// A file in the format of `rclone lsjson`.
    struct Entry: Decodable {
        var Path: String
        var Name: String
        var Size: Int64
        var ModTime: String?
        var Hashes: [String: String]?

        /// Whether the path consists of valid names.
        ///
        /// A server may send anything, and names become paths here.
        var isOfNames: Bool {
            let names = Path.split(separator: "/", omittingEmptySubsequences: false)
            return names.last.map(String.init) == Name
                && names.allSatisfy { !["", ".", ".."].contains($0) && !$0.contains("\0") }
        }

        var file: RemoteFile { RemoteFile(name: Name, size: Size, modified: modified) }

        /// The modification time from RFC 3339, to the second; `nil` for the epoch and before, which means "unknown".
        private var modified: Date? {
            let whole = ModTime?.replacing(#/\.\d+/#, with: "")
            guard let date = whole.flatMap({ try? Date($0, strategy: .iso8601) }) else {
                return nil
            }
            return date.timeIntervalSince1970 > 0 ? date : nil
        }
    }

    /// Lists files according to options, with their paths from this folder.
    func paths(_ options: [String]) async throws -> [(path: String, file: RemoteFile)] {
        try await entries(options).map { ($0.Path, $0.file) }
    }

    func entries(_ options: [String]) async throws -> [Entry] {
        let output = try await run(["lsjson"] + Self.listOptions + options).output
        do {
            return try JSONDecoder().decode([Entry].self, from: Data(output))
                .filter(\.isOfNames)
        } catch {
            throw RemoteError.rclone(address, reason: "its list is not what was expected")
        }
    }
}
