internal import Files
internal import Foundation
internal import SystemPackage

/// The texts of a configuration: a person's own file, and the pieces in the directory beside it.
///
/// The own file overrides the pieces, and a piece those with a smaller name. People and programs add pieces; this program
/// writes only pieces.
struct ConfigurationFiles {
    /// The absolute path of the own file, which may not exist.
    let path: FilePath
    /// The directory with the pieces, which may not exist.
    let directory: FilePath
    /// The text of the own file.
    private let own: String?
    /// The texts of the pieces, sorted by name.
    private var pieces: [(path: FilePath, text: String)]

    /// Reads the files that flags or the environment name, or the default ones if they exist.
    init(_ options: ConfigurationOptions, mayBeMissing: Bool = false) throws {
        try self.init(
            named: options.configuration ?? ProcessEnvironment.value("GROCERYDUDE_CONFIG"),
            mayBeMissing: mayBeMissing
        )
    }

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - name: the path of the own file; `nil` for the default one.
    ///   - mayBeMissing: whether a named configuration may have no file at all.
    /// - Throws: `ConfigurationError` if a file cannot be used.
    init(named name: String?, mayBeMissing: Bool = false) throws {
        path = FilePath(FileManager.default.currentDirectoryPath)
            .pushing(FilePath(name ?? Configuration.usualPath)).lexicallyNormalized()
        directory = path.removingLastComponent()
            .appending((path.lastComponent?.stem ?? "config") + ".d")
        pieces = try Self.pieces(in: directory)
        // A dangling link is an error, not a missing configuration.
        let isThere = (try? FileManager.default.attributesOfItem(atPath: path.string)) != nil
        let isNeeded = name != nil && !mayBeMissing && pieces.isEmpty
        own = isThere || isNeeded ? try ConfigurationFile.text(of: path) : nil
    }

    private static func pieces(in directory: FilePath) throws -> [(path: FilePath, text: String)] {
        let name = printable(directory)
        do {
            guard try FileInfo.ifPresent(directory) != nil else { return [] }
            if let exposure = Exposure(ofEntriesIn: directory) {
                throw ConfigurationError.exposed("the configuration '\(name)'", exposure)
            }
            let open = try Directory.open(directory)
            return try open.names().compactMap { name in
                let path = open.path(of: name)
                guard name.bytes.first != UInt8(ascii: "."), path.extension == "yaml" else {
                    return nil
                }
                do {
                    return (path, try ConfigurationFile.text(of: path))
                } catch let error as ConfigurationError {
                    // Another run may have removed the piece since it was listed.
                    guard try FileInfo.ifPresent(path) == nil else { throw error }
                    return nil
                }
            }
        } catch let error as FileError {
            throw ConfigurationError.unreadable(
                name,
                reason: "cannot be used: \(error)",
                hint: error.hint
            )
        }
    }

    /// The directory at which relative paths in all files begin.
    private var base: String { path.removingLastComponent().string }

    /// The paths of the existing files, each before those that it overrides.
    var paths: [String] {
        (own == nil ? [] : [path.string]) + pieces.reversed().map(\.path.string)
    }

    /// Returns a piece's text and settings; `nil` if there is no such piece.
    func piece(_ path: FilePath) throws -> (text: String, file: ConfigurationFile?)? {
        guard let text = pieces.first(where: { $0.path == path })?.text else { return nil }
        return (text, try ConfigurationFile(path.string, text: text, base: base))
    }

    /// Returns the files with another text of a piece; without the piece for `nil`.
    func substituting(_ path: FilePath, by text: String?) -> ConfigurationFiles {
        var files = self
        files.pieces.removeAll { $0.path == path }
        guard let text else { return files }
        let next = files.pieces.firstIndex { $0.path.string.exact > path.string.exact }
        files.pieces.insert((path, text), at: next ?? files.pieces.endIndex)
        return files
    }

    /// Merges the files.
    ///
    /// - Parameter mayBeEmpty: whether the own file may have only comments, as it may beside pieces.
    /// - Returns: the merged files; `nil` if there are none.
    /// - Throws: `ConfigurationError` with all faults of all files.
    func merged(mayBeEmpty: Bool = false) throws -> ConfigurationFile? {
        var files: [ConfigurationFile] = []
        var faults: [ConfigurationFault] = []
        func read(_ path: FilePath, _ text: String, mayBeEmpty: Bool) throws {
            do {
                if let file = try ConfigurationFile(path.string, text: text, base: base) {
                    files.append(file)
                } else if !mayBeEmpty {
                    throw ConfigurationFile.empty(path.string)
                }
            } catch ConfigurationError.invalid(let found) {
                faults += found
            }
        }
        for (path, text) in pieces { try read(path, text, mayBeEmpty: false) }
        if let own { try read(path, own, mayBeEmpty: mayBeEmpty || !pieces.isEmpty) }
        guard faults.isEmpty else { throw ConfigurationError.invalid(faults) }
        return files.isEmpty ? nil : ConfigurationFile(merging: files, at: path.string)
    }
}
