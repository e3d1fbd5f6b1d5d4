internal import Files
internal import Foundation
internal import Stores
internal import Sync
internal import SystemPackage

/// The user's commands that run before and after others' changes are written to a store.
///
/// They get the store's path, and a JSON file of the tables and rows that change.
public struct ImportCommands: Sendable, Equatable {
    /// The commands before the write; if one fails, the changes wait for the next run.
    public var willImport: [String] = []
    /// The commands after the write; a failure is a warning.
    public var didImport: [String] = []
    /// The time limit of one command.
    public var timeout: Duration = .seconds(600)
    /// The configuration's profile, if the run has one.
    public var profile: String?
    /// The remote folder of the backups, as in other commands of the run.
    public var remote = ""

    public init() {}

    func runBefore(_ rows: [WrittenRow], _ store: Store, _ context: OperationContext) async throws {
        try await run(willImport, "will_import", rows, store, context)
    }

    func runAfter(_ rows: [WrittenRow], _ store: Store, _ context: OperationContext) async throws {
        do {
            try await run(didImport, "did_import", rows, store, context)
        } catch  where !(error is CancellationError) {
            context.warn(explain(error))
        }
    }

    private func run(
        _ lines: [String],
        _ event: String,
        _ rows: [WrittenRow],
        _ store: Store,
        _ context: OperationContext
    ) async throws {
        guard !lines.isEmpty else { return }
        let scratch = try ScratchDirectory(in: context.scratch)
        let path = scratch.path.appending("changes.json")
        try LocalFileSystem().write(Self.json(rows), to: path)
        var environment = CommandEnvironment(
            command: "sync",
            profile: profile,
            stores: store.directory,
            remote: remote
        )
        environment.store = store.location
        environment.changes = path
        for line in lines {
            try await UserCommand(
                line: line,
                event: event,
                environment: environment,
                timeout: timeout
            ).run(context)
        }
        withExtendedLifetime(scratch) {}
    }

    /// Returns the keys of the rows, by table and change.
    private static func json(_ rows: [WrittenRow]) throws -> [UInt8] {
        var tables: [String: [String: [Key]]] = [:]
        for row in rows {
            tables[row.table, default: [:]][row.change.rawValue, default: []].append(
                Key(values: row.key)
            )
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(["tables": tables]))
    }
}

/// A row's primary key: a value, or a list of them.
private struct Key: Encodable {
    var values: [StoredValue]

    func encode(to encoder: any Encoder) throws {
        if values.count == 1, let value = values.first {
            var container = encoder.singleValueContainer()
            try container.encode(Part(value: value))
        } else {
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(Part(value: value)) }
        }
    }

    /// A value; a blob is written as hexadecimal digits.
    private struct Part: Encodable {
        var value: StoredValue

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .integer(let number): try container.encode(number)
            case .real(let bits): try container.encode("\(Double(bitPattern: bits))")
            case .text(let bytes):
                try container.encode(String(decoding: bytes.array, as: UTF8.self))
            case .blob(let bytes): try container.encode(bytes.array.map(Self.hex).joined())
            }
        }

        private static func hex(_ byte: UInt8) -> String {
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
