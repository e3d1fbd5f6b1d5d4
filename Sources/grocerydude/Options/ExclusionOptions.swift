internal import ArgumentParser
internal import Files
internal import Stores
internal import SystemPackage

/// The options for paths to exclude, and to include again.
struct ExclusionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Leave out files that match a pattern of gitignore(5); '!' includes them again; may be repeated.",
            discussion: "A restore leaves such files alone. '*.nosync/' always comes first.",
            valueName: "pattern"
        )
    )
    var exclude: [String] = []

    @Option(
        help:
            "Leave out files that match the patterns in this file, one per line; may be repeated."
            .value("file"),
        completion: .file()
    )
    var excludeFile: [String] = []

    /// The maximum size in bytes of a file with patterns; a longer file is a mistake.
    private static let fileLimit: Int64 = 1 << 20

    /// Returns all exclusions: the standard ones, then the profile's, the files' and the flags' patterns.
    ///
    /// The last matching pattern wins.
    ///
    /// - Throws: `UsageError` with the bad pattern, or with the file that cannot be read.
    func read(_ profile: Profile) throws -> Exclusions {
        var exclusions = profile.exclusions
        do {
            exclusions.patterns =
                try Exclusions.standard.map { try PathPattern($0) } + exclusions.patterns
            for file in excludeFile {
                let bytes = try File.contents(of: FilePath(file), limit: Self.fileLimit)
                guard let lines = String(validating: bytes, as: UTF8.self) else {
                    throw UsageError("'\(file)' is not UTF-8", fullMessage: "")
                }
                exclusions.patterns += try [PathPattern](lines: lines)
            }
            exclusions.patterns += try exclude.map { try PathPattern($0) }
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError(
                explain(error),
                fullMessage: "See 'grocerydude backup --help' for more information"
            )
        }
        return exclusions
    }
}
