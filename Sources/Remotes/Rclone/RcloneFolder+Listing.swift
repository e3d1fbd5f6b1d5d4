internal import Foundation

extension RcloneFolder {
    // Of S3 and Swift the time that the server knows: another would be one request a file.
    private static let listOptions = ["--files-only", "--use-server-modtime", "--no-mimetype"]

    /// Returns whether a subfolder is listed with the remote folder, in one process.
    static func isListedAhead(_ name: String) -> Bool { name.hasPrefix(PartialName.prefix) }

    public func list() async throws -> [RemoteFile] {
        if steps.isEmpty { return try await listAhead() }
        if steps.count == 1, let files = memory.takeSubfolder(steps[0]) { return files }
        return try await listNow()
    }

    /// Lists this folder and nothing else.
    func listNow() async throws -> [RemoteFile] {
        do {
            return try await entries([]).map(\.file)
        } catch RemoteError.missing where !steps.isEmpty {
            return []
        }
    }

    /// Lists the remote folder, and its hidden subfolders for whoever asks next.
    private func listAhead() async throws -> [RemoteFile] {
        let hidden = "/\(PartialName.prefix)*/*"
        let options = ["--recursive", "--max-depth", "2", "--include", "/*", "--include", hidden]
        let entries: [Entry]
        do {
            entries = try await self.entries(options)
        } catch let error as RemoteError where error.mayBeOfSubfolder {
            // That is no reason not to find a backup.
            let files = try await listNow()
            memory.take(files, subfolders: nil)
            return files
        }
        var files: [RemoteFile] = []
        var subfolders: [String: [RemoteFile]] = [:]
        for entry in entries {
            let file = entry.file
            let subfolder = entry.Path.dropLast(entry.Name.count + 1)
            if subfolder.isEmpty {
                files.append(file)
            } else {
                subfolders[String(subfolder), default: []].append(file)
            }
        }
        memory.take(files, subfolders: subfolders)
        return files
    }

    private struct Entry: Decodable {
        var Path: String
        var Name: String
        var Size: Int64
        var ModTime: String?

        var file: RemoteFile { RemoteFile(name: Name, size: Size, modified: modified) }

        /// RFC 3339, to the second; `nil` for the epoch and before, which stands for "not known".
        private var modified: Date? {
            let whole = ModTime?.replacing(#/\.\d+/#, with: "")
            guard let date = whole.flatMap({ try? Date($0, strategy: .iso8601) }) else {
                return nil
            }
            return date.timeIntervalSince1970 > 0 ? date : nil
        }
    }

    /// Lists what options say, with the ways from this folder.
    func paths(_ options: [String]) async throws -> [(path: String, file: RemoteFile)] {
        try await entries(options).map { ($0.Path, $0.file) }
    }

    private func entries(_ options: [String]) async throws -> [Entry] {
        let output = try await run(["lsjson"] + Self.listOptions + options + [place]).output
        do {
            return try JSONDecoder().decode([Entry].self, from: Data(output))
        } catch {
            throw RemoteError.rclone(address, reason: "its list is not what was expected")
        }
    }
}
