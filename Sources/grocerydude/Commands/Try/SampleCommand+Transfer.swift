internal import ArgumentParser
internal import Files
internal import Foundation
internal import Operations
internal import Sample
internal import SystemPackage

extension SampleCommand {
    struct Export: InvokedCommand {
        static let configuration = CommandConfiguration(
            "export",
            "Write all items, with their photos, to a JSON file.",
            discussion: "Nothing is overwritten. '-' is standard output.",
            example: "grocerydude sample export list.json",
            "grocerydude sample export - | gzip >list.json.gz"
        )

        @Argument(help: "The new file, or '-'.", completion: .file(extensions: ["json"]))
        var file: String

        @Option(help: "The owner's name, which 'import' shows.".value("name"))
        var owner: String?

        @OptionGroup(title: HelpSection.common) var stores: StoresOptions
        @OptionGroup(title: HelpSection.common) var output: OutputOptions

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let (json, count) = try GroceryStore(in: invocation.stores).exportItems(of: owner)
            guard file != "-" else {
                // The JSON is the whole answer, with or without '--json'.
                invocation.console.answer(text: String(decoding: json, as: UTF8.self))
                return CommandResult(.done)
            }
            let path = FilePath(file)
            guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
            try LocalFileSystem().write(json, to: path)
            let items = counted(count, "item", "items")
            return try invocation.done(
                "exported \(items) to '\(file)'",
                ["path": file, "items": count]
            )
        }
    }

    struct Import: InvokedCommand {
        static let configuration = CommandConfiguration(
            "import",
            "Add the items of a JSON file that are not there yet.",
            discussion: """
                Items are known by their 'id': an item that is there stays as it is, unless '--replace' is \
                given. If anything in the file is wrong, nothing is changed. '-' is standard input.
                """,
            example: "grocerydude sample import list.json",
            "ssh kitchen grocerydude sample export - | grocerydude sample import -"
        )

        /// The maximum size in bytes.
        ///
        /// A longer file is no list of groceries, and would exhaust memory.
        private static let limit = 1 << 30

        @Argument(
            help: "A file that 'sample export' wrote, or '-'.",
            completion: .file(extensions: ["json"])
        )
        var file: String

        @OptionGroup(title: HelpSection.common) var stores: StoresOptions
        @OptionGroup(title: HelpSection.common) var output: OutputOptions

        @Flag(help: "Replace items that are there already by those of the file.")
        var replace = false

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let store = try GroceryStore(in: invocation.stores)
            let imported = try store.importItems(
                read(),
                from: file == "-" ? "standard input" : file,
                replacing: replace
            )
            let facts: JSONObject = [
                "added": imported.added, "present": imported.present,
                "replaced": imported.replaced, "owner": imported.owner,
            ]
            let owner = imported.owner.map { " of '\(printable(bytes: $0.utf8))'" } ?? ""
            let parts = [
                "added \(counted(imported.added, "item", "items"))\(owner)",
                imported.replaced == 0 ? nil : "replaced \(imported.replaced)",
                imported.present == 0 ? nil : "\(imported.present) were there already",
            ]
            let line = parts.compactMap(\.self).joined(separator: "; ")
            return try invocation.done(line, facts)
        }

        private func read() throws -> [UInt8] {
            guard file == "-" else {
                return try File.contents(of: FilePath(file), limit: Int64(Self.limit))
            }
            var input: [UInt8] = []
            while let part = try FileHandle.standardInput.read(upToCount: 1 << 20), !part.isEmpty {
                input += part
                guard input.count <= Self.limit else {
                    throw FileError.tooLong("/dev/stdin", limit: Int64(Self.limit))
                }
            }
            return input
        }
    }
}
