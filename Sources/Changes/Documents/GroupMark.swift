public import Foundation

/// The record that a device began a group: `GROUP.<id>.group` at the container's root.
public struct GroupMark: Document {
    public static let kind = FileKind.group
    /// The version of the container's format that this program writes.
    public static let format = 1

    public var format: Int
    /// The group's name, which is also its folder's.
    public var group: GroupName
    public var id: GroupID
    /// The time at which the mark was made, in whole seconds.
    public var made: Date
    /// The ids that the group had before, if it was begun again.
    public var after: [GroupID]

    public init(group: GroupName, id: GroupID, made: Date, after: [GroupID] = []) {
        format = Self.format
        self.group = group
        self.id = id
        self.made = Date(timeIntervalSince1970: made.timeIntervalSince1970.rounded(.down))
        self.after = after
    }

    private enum CodingKeys: String, CodingKey {
        case format, group, id, made, after
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        format = try values.decode(Int.self, forKey: .format)
        guard let group = GroupName(try values.decode(String.self, forKey: .group)) else {
            throw FormatBreach("its group's name is not one")
        }
        self.group = group
        id = try values.identifier(.id)
        made = try Date.ISO8601FormatStyle().parse(values.decode(String.self, forKey: .made))
        after = try values.identifiers(.after)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(format, forKey: .format)
        try values.encode(group.description, forKey: .group)
        try values.encode(id.description, forKey: .id)
        try values.encode(made.formatted(Date.ISO8601FormatStyle()), forKey: .made)
        try values.encode(after.map(\.description), forKey: .after)
    }

    public func check() throws {
        guard format >= 1 else { throw FormatBreach("its format is none") }
        guard after.count <= ChangeHeader.maximumDevices else {
            throw FormatBreach("it comes after too many groups")
        }
    }
}
