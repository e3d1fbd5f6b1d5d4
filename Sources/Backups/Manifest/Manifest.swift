internal import Archives
package import Files
internal import Foundation

/// The path of a manifest in an archive, and the limits of its lines.
package enum Manifest {
    package static let path = reserved.appending("manifest.json")

    /// The path of the manifest's signature, the entry behind the manifest.
    package static let signature = reserved.appending("signature")
    /// The entries that mark the end of an archive.
    static let mark = ArchiveReader.Mark(path: path, seal: signature)

    /// The directory for all entries that are not from the stores directory.
    package static let reserved = RelativePath(name: ".grocerydude")
    /// The directory for the patches of files in an increment, at their files' paths.
    package static let patches = reserved.appending("patch")
    /// The paths of the helpers for restoring without this program, just before the manifest of an increment.
    package static let readme = reserved.appending("README.txt")
    package static let script = reserved.appending("apply.py")

    /// The entries of archives in the reserved directory, and what a script leaves there.
    private static let own: Set<RelativePath> = [
        path, signature, patches, readme, script, reserved.appending("applied"),
    ]

    /// Returns whether a file at a path would take the place of the manifest, of its signature, or of their directory.
    package static func isOwn(_ path: RelativePath) -> Bool {
        path == Self.path || path == signature || path == reserved
    }

    /// Returns whether a file is where an archive has an entry of its own, so that it remains from an archive that was
    /// unpacked by hand.
    package static func isLeftover(_ path: RelativePath, _ kind: FileInfo.Kind) -> Bool {
        path == patches ? kind == .directory : kind == .file && own.contains(path)
    }

    /// The maximum size in bytes of the last line, and of the first line of a small archive.
    ///
    /// A longer line would only exhaust memory: a parser takes 25 times its size. The lines grow with the problems, and
    /// with the excluded paths, of which a small archive may have many.
    static let lineLimit = 4 << 20

    /// The maximum size in bytes of any first line, that of 40,000 stores.
    static let headerLimit = 8 << 20

    /// Returns the maximum size in bytes of the first line of an archive: a store takes less of it than of the archive,
    /// and very many tables are not listed.
    static func headerLimit(archive size: Int64) -> Int {
        min(headerLimit, lineLimit + 8 * Int(min(size, Int64(headerLimit))))
    }

    /// The maximum size in bytes of each text of the first line that is remembered: a path of 4096 bytes, escaped.
    static let textLimit = 64 << 10

    /// The end of the first line, before the records.
    static let headerEnding = Array(",\"files\":[".utf8)

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}
