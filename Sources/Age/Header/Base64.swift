internal import Foundation

/// Base 64 without padding (RFC 4648, section 4) in its canonical form.
enum Base64 {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(Data(bytes).base64EncodedString().prefix { $0 != "=" })
    }

    /// Returns the bytes; `nil` if `encode` would write them differently.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(text) + padding),
            encode(data).utf8.elementsEqual(text)
        else { return nil }
        return Array(data)
    }
}
