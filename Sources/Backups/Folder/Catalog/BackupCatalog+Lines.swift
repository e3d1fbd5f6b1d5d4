internal import Remotes

// A hundred thousand backups are read in about a second if each is one string. A JSON decoder takes many times as long
// for objects with as many keys. Facts that do not fit into such a line are written as an object.
extension BackupCatalog.Facts {
    /// Reads a line or an object.
    init(from decoder: any Decoder) throws {
        if let line = try? decoder.singleValueContainer().decode(String.self) {
            guard let facts = Self(line: line) else { throw CatalogLine.damaged(decoder) }
            self = facts
            return
        }
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        time = try fields.decodeIfPresent(Int64.self, forKey: .time)
        offset = try fields.decodeIfPresent(Int.self, forKey: .offset)
        isAnomalous = try fields.decodeIfPresent(Bool.self, forKey: .isAnomalous)
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        isPartial = try fields.decodeIfPresent(Bool.self, forKey: .isPartial)
        content = try fields.decodeIfPresent(String.self, forKey: .content)
        root = try fields.decodeIfPresent(ManifestHeader.Root.self, forKey: .root)
        exclusions = try fields.decodeIfPresent(String.self, forKey: .exclusions)
        origin = try fields.decodeIfPresent(String.self, forKey: .origin)
        originName = try fields.decodeIfPresent(String.self, forKey: .originName)
        lineage = try fields.decodeIfPresent(String.self, forKey: .lineage)
        number = try fields.decodeIfPresent(Int.self, forKey: .number)
        needs = try fields.decodeIfPresent([Need].self, forKey: .needs)
    }

    private init?(line: String) {
        guard let fields = CatalogLine.fields(of: line, count: 14) else { return nil }
        self.init()
        time = fields[0].flatMap { Int64($0) }
        offset = fields[1].flatMap { Int($0) }
        isAnomalous = fields[2] == nil ? nil : true
        reason = fields[3]
        isPartial = fields[4] == nil ? nil : true
        content = fields[5]
        if let mode = fields[6].flatMap({ UInt16($0, radix: 8) }),
            let user = fields[7].flatMap({ UInt32($0) }),
            let group = fields[8].flatMap({ UInt32($0) })
        {
            root = ManifestHeader.Root(mode: mode, owner: user, group: group)
        }
        exclusions = fields[9]
        origin = fields[10]
        lineage = fields[11]
        number = fields[12].flatMap { Int($0) }
        originName = fields[13]
    }

    /// Writes a line, or an object if a line cannot hold all fields.
    func encode(to encoder: any Encoder) throws {
        if let line {
            var container = encoder.singleValueContainer()
            return try container.encode(line)
        }
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(time, forKey: .time)
        try fields.encodeIfPresent(offset, forKey: .offset)
        try fields.encodeIfPresent(isAnomalous, forKey: .isAnomalous)
        try fields.encodeIfPresent(reason, forKey: .reason)
        try fields.encodeIfPresent(isPartial, forKey: .isPartial)
        try fields.encodeIfPresent(content, forKey: .content)
        try fields.encodeIfPresent(root, forKey: .root)
        try fields.encodeIfPresent(exclusions, forKey: .exclusions)
        try fields.encodeIfPresent(origin, forKey: .origin)
        try fields.encodeIfPresent(originName, forKey: .originName)
        try fields.encodeIfPresent(lineage, forKey: .lineage)
        try fields.encodeIfPresent(number, forKey: .number)
        try fields.encodeIfPresent(needs, forKey: .needs)
    }

    private var line: String? {
        // A mode written by another program may not survive the round trip through a number.
        let isUsual = root.map { UInt16($0.mode, radix: 8).map(ManifestRecord.octal) == $0.mode }
        guard needs == nil, isUsual ?? true else { return nil }
        return CatalogLine.line([
            time.map { String($0) }, offset.map { String($0) }, isAnomalous == true ? "1" : nil,
            reason, isPartial == true ? "1" : nil, content, root?.mode,
            root.map { String($0.uid) }, root.map { String($0.gid) }, exclusions, origin, lineage,
            number.map { String($0) }, originName,
        ])
    }
}

extension BackupCatalog.Sighting {
    /// Reads a line or an object.
    init(from decoder: any Decoder) throws {
        if let line = try? decoder.singleValueContainer().decode(String.self) {
            guard let fields = CatalogLine.fields(of: line, count: 5), let id = fields[0],
                let size = fields[1].flatMap({ Int64($0) })
            else { throw CatalogLine.damaged(decoder) }
            self.id = BackupID(rawValue: id)
            self.size = size
            state = fields[2]
            isTaken = fields[3] == nil ? nil : true
            keys = fields[4]
            return
        }
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(BackupID.self, forKey: .id)
        size = try fields.decode(Int64.self, forKey: .size)
        state = try fields.decodeIfPresent(String.self, forKey: .state)
        hash = try fields.decodeIfPresent(RemoteHash.self, forKey: .hash)
        isTaken = try fields.decodeIfPresent(Bool.self, forKey: .isTaken)
        keys = try fields.decodeIfPresent(String.self, forKey: .keys)
    }

    /// Writes a line, or an object if a line cannot hold all fields.
    func encode(to encoder: any Encoder) throws {
        let fields = [id.rawValue, String(size), state, isTaken == true ? "1" : nil, keys]
        if hash == nil, let line = CatalogLine.line(fields) {
            var container = encoder.singleValueContainer()
            return try container.encode(line)
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(size, forKey: .size)
        try container.encodeIfPresent(state, forKey: .state)
        try container.encodeIfPresent(hash, forKey: .hash)
        try container.encodeIfPresent(isTaken, forKey: .isTaken)
        try container.encodeIfPresent(keys, forKey: .keys)
    }
}

/// Fields in one line, separated by bars.
private enum CatalogLine {
    private static let separator = UInt8(ascii: "|")

    /// Returns a line; `nil` if a field is empty or contains a bar.
    static func line(_ fields: [String?]) -> String? {
        let fit = fields.allSatisfy {
            $0.map { !$0.isEmpty && !$0.utf8.contains(separator) } ?? true
        }
        return fit ? fields.map { $0 ?? "" }.joined(separator: "|") : nil
    }

    /// Returns the fields of a line; `nil` if their number is different.
    static func fields(of line: String, count: Int) -> [String?]? {
        let parts = line.utf8.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == count else { return nil }
        return parts.map { $0.isEmpty ? nil : String(Substring($0)) }
    }

    static func damaged(_ decoder: any Decoder) -> DecodingError {
        DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "a line of other fields")
        )
    }
}
