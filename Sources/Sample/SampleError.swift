public import Files
internal import GRDB
public import SystemPackage

/// An error with the sample store.
public enum SampleError: ExplainedError, Equatable {
    /// The store exists already.
    case exists(FilePath)
    /// The directory contains other data.
    case otherData(FilePath, String)
    /// The store does not exist.
    case missing(FilePath)
    /// No item has this name.
    case noItem(String)
    /// A file of items, or the given substitute, is invalid; nothing was imported.
    case badItems(String, reason: String)
    /// SQLite cannot open, read or change the store.
    case failed(FilePath, reason: String)

    /// Runs `body`, and translates errors of SQLite into `failed`.
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

    public var hint: String? {
        switch self {
        case .exists: "run 'grocerydude sample' to see what is in it"
        case .otherData:
            "name an empty directory with '--stores DIR', or add '--yes' to have the list beside it"
        case .missing: "is it the right directory? name another with '--stores DIR'"
        case .noItem: "run 'grocerydude sample' to see them"
        case .badItems: "'grocerydude sample export' writes such a file"
        case .failed: nil
        }
    }

    public var description: String {
        switch self {
        case .exists(let path): "there is a store already: '\(printable(path))'"
        case .otherData(let path, let name):
            "'\(printable(path))' has other data in it: '\(name)'"
        case .missing(let path): "there is no store: '\(printable(path))'"
        case .noItem(let name): "there is no item named '\(name)'"
        case .badItems(let source, let reason):
            "'\(source)' cannot be imported, nothing was changed: \(reason)"
        case .failed(let path, let reason):
            "the store '\(printable(path))' cannot be used: \(reason)"
        }
    }
}
