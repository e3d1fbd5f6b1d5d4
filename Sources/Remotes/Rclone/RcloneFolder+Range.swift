internal import Files

extension RcloneFolder {
    public func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        guard !range.isEmpty else { return [] }
        let options = ["--offset", "\(range.lowerBound)", "--count", "\(range.count)"]
        do {
            return try await run(["cat"] + options + [path(of: name)], of: name).output
        } catch RemoteError.missing {
            // It looks for a directory of that name.
            throw RemoteError.noFile(address, name: name)
        }
    }
}
