internal import Foundation
internal import Remotes

/// The folder that the user wants to link.
struct LinkTarget {
    /// The address; a relative directory is relative to the working directory.
    let address: String
    private let provider: RcloneProvider?

    /// The words that mean a provider even if rclone is not installed to confirm it.
    private static let wellKnown: Set = [
        "b2", "box", "drive", "dropbox", "ftp", "gcs", "onedrive", "pcloud", "s3", "sftp", "smb",
        "webdav",
    ]

    /// Parses the text that the user typed.
    ///
    /// A word is a directory if one of that name exists, or else a provider if rclone has one.
    ///
    /// - Throws: `AddressError`, `RemoteError`.
    init(_ text: String, path: String) async throws {
        let written = try RemoteAddress(written: text)
        if written.isOfRclone || FileManager.default.fileExists(atPath: text) {
            (address, provider) = (text, nil)
        } else if !text.contains("/"), let provider = try await Self.provider(text) {
            self.provider = provider
            address = RemoteAddress.rclone("\(provider.word):\(path)").text
        } else {
            (address, provider) = (text, nil)
        }
    }

    private static func provider(_ word: String) async throws -> RcloneProvider? {
        do {
            return try await RcloneProvider.named(word)
        } catch RemoteError.noRclone where !wellKnown.contains(word) {
            return nil
        } catch RemoteError.noRclone {
            throw RemoteError.noRclone("\(word):")
        }
    }

    /// Makes rclone configure the provider's remote, if it has none of that name.
    ///
    /// - Throws: `CommandError.noTerminalForRclone`; `RemoteError`.
    func configure(on console: Console) async throws {
        guard let provider else { return }
        if try await RcloneProvider.type(of: provider.word) != nil { return }
        guard console.canAsk else { throw CommandError.noTerminalForRclone(provider.word) }
        console.message("rclone asks for what it needs to know of '\(provider.word)':")
        try await provider.configure(as: provider.word)
    }
}
