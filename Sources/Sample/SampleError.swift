public import Files
internal import GRDB
public import SystemPackage

/// An error with the sample store.
public enum SampleError: ExplainedError, Equatable {
    /// There is a store already.
    case exists(FilePath)
    /// There is no store.
    case missing(FilePath)
    /// No item has this name.
    case noItem(String)
    /// A file of items, or what is given in its place, is not good; nothing was imported.
    case badItems(String, reason: String)
    /// SQLite cannot open, read or change the store.
    case failed(FilePath, reason: String)

    /// Runs `body`, with errors of SQLite as `failed`.
    static func translating<Result>(
        _ path: FilePath,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw failed(path, reason: error.message ?? "\(error.resultCode)")
        }
    }

    public var description: String {
        switch self {
        case .exists(let path): "there is a store already: '\(printable(path))'"
        case .missing(let path): "there is no store: '\(printable(path))'"
        case .noItem(let name): "there is no item named '\(name)'"
        case .badItems(let source, let reason):
            "'\(source)' cannot be imported, nothing was changed: \(reason)"
        case .failed(let path, let reason):
            "the store '\(printable(path))' cannot be used: \(reason)"
        }
    }
}
