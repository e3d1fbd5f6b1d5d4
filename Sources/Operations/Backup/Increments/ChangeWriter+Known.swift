internal import Archives
internal import Backups
internal import Files
internal import History

/// The records of earlier backups about a path, and the new entry derived from them.
extension ChangeWriter {
    /// The record of earlier backups about a path.
    struct Known {
        /// The id of its row, even if the last backup had nothing there.
        var id: Int64?
        /// The entry of the last backup, if it had the same kind.
        var entry: BackupState.Entry?
        /// The number of the first backup that had anything there.
        var first: Int?
    }

    /// Returns the record about a path.
    func known(_ attributes: EntryAttributes) throws -> Known {
        guard let (id, entry) = try state.entry(attributes.path.bytes) else { return Known() }
        let wasDirectory = entry.attributes.hasPrefix(EntryAttributes.Kind.directory.rawValue)
        let isDirectory = attributes.kind == .directory
        if plan.isIncrement, wasDirectory != isDirectory, !entry.attributes.isEmpty {
            // Tools that unzip one archive over another cannot do that. A later increment has the same trouble if its
            // base has the old entry, whenever that was removed.
            throw FullNeeded(reason: "'\(attributes.path)' was a directory, or is one now")
        }
        let isSame = entry.gone == nil && entry.attributes.hasPrefix(attributes.kind.rawValue)
        return Known(id: id, entry: isSame ? entry : nil, first: entry.first)
    }

    static func entry(
        _ attributes: EntryAttributes,
        size: Int64,
        _ digests: [Digest],
        after known: Known,
        number: Int
    ) -> BackupState.Entry {
        let old = known.entry
        let bytes = digests.flatMap(\.bytes)
        let isOther = old.map { $0.digests != bytes || $0.size != size } ?? true
        var entry = BackupState.Entry(
            attributes: old?.attributes ?? "",
            size: size,
            identity: nil,
            sectorSize: 0,
            first: known.first ?? number,
            born: old?.born ?? number,
            changed: isOther ? number : old?.changed ?? number,
            touched: isOther ? number : old?.touched ?? number,
            digests: bytes
        )
        touch(&entry, attributes, number: number)
        return entry
    }

    static func touch(
        _ entry: inout BackupState.Entry,
        _ attributes: EntryAttributes,
        number: Int
    ) {
        var bytes = Array(attributes.kind.rawValue.utf8)
        var numbers = [Int64(attributes.mode), attributes.modified]
        if let owner = attributes.owner { numbers += [Int64(owner.user), Int64(owner.group)] }
        for number in numbers {
            bytes.append(UInt8(ascii: " "))
            bytes.append(decimal: number)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if entry.attributes != text { entry.touched = number }
        entry.attributes = text
    }
}

extension BackupState.Entry {
    /// Returns the SHA-256 of a segment; `nil` if the file had fewer segments.
    func digest(ofSegment index: Int) -> Digest? {
        guard 32 * (index + 1) <= digests.count else { return nil }
        return digests[(32 * index)..<(32 * (index + 1))].withUnsafeBytes { Digest(bytes: $0) }
    }

    /// The SHA-256 of each segment.
    var segmentDigests: [Digest] {
        (0..<digests.count / 32).compactMap { digest(ofSegment: $0) }
    }
}
