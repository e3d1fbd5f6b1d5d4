internal import Files
internal import Foundation
public import SystemPackage

/// The small inputs of the repository, described in their README; nothing here changes them.
public enum Fixtures {
    public static let path = repository.appending("Fixtures")

    /// The checkout that the tests were built from.
    public static let repository = FilePath(#filePath).removingLastComponent()
        .removingLastComponent().removingLastComponent()

    /// Real data of public projects, beside the checkout; it need not be there.
    public static let corpora =
        ProcessInfo.processInfo.environment["GROCERYDUDE_CORPORA"].map { FilePath($0) }
        ?? repository.removingLastComponent().appending("shared/corpora")

    /// The names in one of its directories.
    public static func names(in directory: String, ending: String = "") throws -> Set<String> {
        let names = try Directory.open(path.appending(directory)).names().map(\.description)
        return Set(names.filter { $0.hasSuffix(ending) })
    }

    /// A file of it.
    public static func read(_ relative: String) throws -> [UInt8] {
        let file = try File.open(path.appending(relative))
        return try file.readExactly(count: Int(file.info().size), at: 0)
    }

    /// Copies a directory of it into a sandbox.
    public static func copy(
        _ directory: String,
        into sandbox: Sandbox,
        as name: String
    ) throws {
        try sandbox.directory(name)
        try Directory.open(path.appending(directory)).walk(failed: { throw $1 }) { file in
            let target = "\(name)/\(file.path)"
            if file.info.kind == .directory {
                try sandbox.directory(target)
            } else {
                try sandbox.write(read("\(directory)/\(file.path)"), to: target)
            }
            return .descend
        }
    }
}
