public import Files

/// The name of a group and of its folder: 1 to 40 of the characters a to z, 0 to 9 and the hyphen.
public struct GroupName: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Creates a name from text; `nil` if the text is not a valid name.
    public init?(_ text: some StringProtocol) {
        guard (1...40).contains(text.utf8.count), text.utf8.allSatisfy(isGroupCharacter) else {
            return nil
        }
        description = String(text)
    }

    /// Derives a name from a store's name: the name in lower case, without its extension.
    ///
    /// Other characters become letters of ASCII, or hyphens. In that case the name ends with a hash of the store's
    /// name, so that two stores never get the same name by this.
    public init(ofStore name: String) {
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        let lower = stem.lowercased()
        if let name = GroupName(lower), lower.utf8.first != UInt8(ascii: "-") {
            self = name
            return
        }
        let letters = lower.unicodeScalars.map { $0.isASCII ? Character($0) : $0.asciiLetter }
        let words = String(letters).utf8.split {
            !isGroupCharacter($0) || $0 == UInt8(ascii: "-")
        }
        let joined = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
        let hash = Array(stem.utf8).withUnsafeBytes { "\(Digest(of: $0))" }.prefix(8)
        description = "\(joined.isEmpty ? "store" : joined.prefix(30))-\(hash)"
    }
}

extension Unicode.Scalar {
    /// The letter of ASCII on which a Latin letter is based, by its name; a hyphen for other characters.
    fileprivate var asciiLetter: Character {
        let words = (properties.name ?? "").split(separator: " ")
        guard words.first == "LATIN", let place = words.firstIndex(of: "LETTER"),
            words.indices.contains(place + 1), words[place + 1].count == 1,
            let letter = words[place + 1].lowercased().first
        else { return "-" }
        return letter
    }
}

private func isGroupCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"):
        true
    default: false
    }
}

/// The name of a file in a container: its folder, and hints that spare downloads.
///
/// Names are never trusted: a file's identity is its hash, and its header holds everything else.
public enum ContainerName: Hashable, Sendable {
    /// The name of a group's mark, at the container's root.
    case group(GroupName, GroupID)
    /// The name of a change file or bundle: the device's first 8 digits, the sequence, and the id's first 16 digits.
    case changes(device: UInt32, sequence: UInt64, id: UInt64)
    case part(clock: UInt64, device: UInt32, id: UInt64)
    case baseline(clock: UInt64, device: UInt32, id: UInt64)
    case card(device: DeviceID, clock: UInt64, id: UInt64)
    case map(device: DeviceID, clock: UInt64, id: UInt64)
    /// The name of a blob: the SHA-256 of its content.
    case blob(Digest)

    /// Returns the name of a change file.
    public static func changes(_ header: ChangeHeader, _ id: Digest) -> ContainerName {
        .changes(device: header.device.short, sequence: header.sequence, id: id.short)
    }

    /// Returns the name of a part of a baseline.
    public static func part(_ header: ChangeHeader, _ id: Digest) -> ContainerName {
        .part(clock: header.clock, device: header.device.short, id: id.short)
    }

    /// Returns the name of a baseline's index.
    public static func baseline(_ header: ChangeHeader, _ id: Digest) -> ContainerName {
        .baseline(clock: header.clock, device: header.device.short, id: id.short)
    }

    /// Returns the name of a device's card.
    public static func card(_ header: DocumentHeader, _ id: Digest) -> ContainerName {
        .card(device: header.device, clock: header.clock, id: id.short)
    }

    /// Returns the name of a map.
    public static func map(_ header: DocumentHeader, _ id: Digest) -> ContainerName {
        .map(device: header.device, clock: header.clock, id: id.short)
    }

    /// The folder inside the group's folder; `nil` for a group's mark, which is at the container's root.
    public var folder: String? {
        switch self {
        case .group: nil
        case .changes: "log"
        case .part, .baseline: "base"
        case .card, .map: "info"
        case .blob(let digest): "blob-\(digest.description.prefix(2))"
        }
    }

    /// The name inside its folder.
    public var file: String {
        switch self {
        case .group(let name, let id): "\(name).\(id).group"
        case .changes(let device, let sequence, let id):
            "\(hex(device))-\(decimal(sequence))-\(id.lowerHex).changes"
        case .part(let clock, let device, let id):
            "\(clock.lowerHex)-\(hex(device))-\(id.lowerHex).part"
        case .baseline(let clock, let device, let id):
            "\(clock.lowerHex)-\(hex(device))-\(id.lowerHex).base"
        case .card(let device, let clock, let id):
            "\(device)-\(clock.lowerHex)-\(id.lowerHex).card"
        case .map(let device, let clock, let id):
            "\(device)-\(clock.lowerHex)-\(id.lowerHex).map"
        case .blob(let digest): digest.description
        }
    }

    /// Parses a name in the form of `file` and `folder`; `nil` for any other name.
    ///
    /// - Parameters:
    ///   - file: the name inside its folder.
    ///   - folder: the folder inside the group's folder; `nil` for the container's root.
    public init?(file: String, in folder: String?) {
        guard let name = Self.parse(file), name.folder == folder, name.file == file else {
            return nil
        }
        self = name
    }

    /// Returns whether a name resembles those of files that each run reads, such as the name of another program's
    /// copy.
    ///
    /// Files with other names are left alone, unless their content is ours.
    public static func isMeant(by file: String) -> Bool {
        [".changes", ".part", ".base", ".card", ".map"].contains { file.contains($0) }
    }

    private static func parse(_ file: String) -> ContainerName? {
        guard let dot = file.lastIndex(of: ".") else {
            return Digest(hex: Array(file.utf8)).map { .blob($0) }
        }
        let stem = file[..<dot]
        let fields = stem.split(separator: "-", omittingEmptySubsequences: false)
        switch file[dot...] {
        case ".group":
            guard let middle = stem.lastIndex(of: "."), let name = GroupName(stem[..<middle]),
                let id = GroupID(hex: stem[stem.index(after: middle)...])
            else { return nil }
            return .group(name, id)
        case ".changes":
            guard fields.count == 3, let device = number(fields[0], 8),
                fields[1].utf8.count == 10, let sequence = UInt64(fields[1]),
                let id = number(fields[2], 16)
            else { return nil }
            return .changes(device: UInt32(device), sequence: sequence, id: id)
        case ".part", ".base":
            guard fields.count == 3, let clock = number(fields[0], 16),
                let device = number(fields[1], 8), let id = number(fields[2], 16)
            else { return nil }
            return file[dot...] == ".part"
                ? .part(clock: clock, device: UInt32(device), id: id)
                : .baseline(clock: clock, device: UInt32(device), id: id)
        case ".card", ".map":
            guard fields.count == 3, let device = DeviceID(hex: fields[0]),
                let clock = number(fields[1], 16), let id = number(fields[2], 16)
            else { return nil }
            return file[dot...] == ".card"
                ? .card(device: device, clock: clock, id: id)
                : .map(device: device, clock: clock, id: id)
        default: return nil
        }
    }

    private static func number(_ text: Substring, _ digits: Int) -> UInt64? {
        text.utf8.count == digits ? UInt64(lowerHex: text.utf8) : nil
    }
}

private func hex(_ number: UInt32) -> String {
    String(UInt64(number).lowerHex.suffix(8))
}

private func decimal(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
}

extension DeviceID {
    /// Its first four bytes as a number; the names of its files contain them.
    public var short: UInt32 { UInt32(high >> 32) }
}

extension Digest {
    /// Its first eight bytes as a number; the names of files contain them.
    public var short: UInt64 {
        withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
