internal import Files
internal import Stores

extension Store {
    /// Returns when its files last changed, in milliseconds since 1970: edits are not later.
    ///
    /// - Throws: `FileError`.
    func modified() throws -> Int64 {
        try files.compactMap { try FileInfo.ifPresent($0.below(directory))?.modified }.max()
            .map { $0 / 1_000_000 } ?? 0
    }
}
