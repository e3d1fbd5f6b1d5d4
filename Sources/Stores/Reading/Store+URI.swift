internal import SystemPackage

extension Store {
    /// The database as a URI for a connection that may write, and makes no file if there is none
    /// (https://www.sqlite.org/uri.html).
    package var writableURI: String { Self.uri(of: location, "mode=rw") }

    /// Returns a database file's URI; SQLite percent-decodes to bytes, so that a path that is not UTF-8 gets
    /// through as text.
    static func uri(of path: FilePath, _ parameters: String) -> String {
        let allowed = Set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8
        )
        let encoded = path.withPlatformString { start in
            UnsafeRawBufferPointer(start: start, count: path.length).map { byte in
                allowed.contains(byte)
                    ? String(Unicode.Scalar(byte))
                    : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
        return "file:\(encoded)?\(parameters)"
    }
}
