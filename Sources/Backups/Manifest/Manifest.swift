package import Files
internal import Foundation

/// The place of a manifest in an archive, and the bounds of its lines.
package enum Manifest {
    package static let path = reserved.appending("manifest.json")

    /// The directory of everything in an archive that is not of the stores directory.
    package static let reserved = RelativePath(name: ".grocerydude")
    /// Where the patches of files stand in an increment, under their files' paths.
    package static let patches = reserved.appending("patch")
    /// The helpers for restoring without this program, just before the manifest of an increment.
    package static let readme = reserved.appending("README.txt")
    package static let script = reserved.appending("apply.py")

    /// Bytes of the first line and of the last at most: a longer one is there to fill our memory.
    ///
    /// They grow with the tables and the problems, of which a small archive may have many.
    static let lineLimit = 64 << 20

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
