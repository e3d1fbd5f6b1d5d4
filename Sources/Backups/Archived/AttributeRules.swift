package import Archives
internal import Files
internal import Foundation

/// The rules for owners and modes of restored files.
package struct AttributeRules {
    /// Whether files keep their set-user-id and set-group-id bits.
    ///
    /// With them a program runs with the rights of its owner, no matter which user starts it.
    package var keepsSetID: Bool
    /// A closure that returns a file's owner; `nil` if files get their owners from the backup.
    package var owner: ((EntryAttributes) throws -> Owner)?

    private var foreignOwners = 0
    private var changed: (count: Int, first: RelativePath?) = (0, nil)

    package init(
        keepingSetID keepsSetID: Bool = false,
        owner: ((EntryAttributes) throws -> Owner)? = nil
    ) {
        (self.keepsSetID, self.owner) = (keepsSetID, owner)
    }

    /// Whether the process may give files to other owners, which only root may.
    package static var mayGiveAway: Bool { geteuid() == 0 }

    /// Returns a mode without the bits that must not be restored.
    ///
    /// A directory keeps its set-group-id bit, by which new files get its group, and its sticky bit.
    package static func safe(_ mode: UInt16, of kind: EntryAttributes.Kind) -> UInt16 {
        kind == .file ? mode & ~0o6000 : mode
    }

    /// Replaces attributes by the owner and mode to restore.
    ///
    /// - Throws: what `owner` throws.
    package mutating func apply(to attributes: inout EntryAttributes) throws {
        let mode = Self.safe(attributes.mode, of: attributes.kind)
        if mode != attributes.mode, !keepsSetID {
            attributes.mode = mode
            changed = (changed.count + 1, changed.first ?? attributes.path)
        }
        guard Self.mayGiveAway else {
            if let owner = attributes.owner, owner.user != geteuid() { foreignOwners += 1 }
            return attributes.owner = nil
        }
        if let owner { attributes.owner = try owner(attributes) }
    }

    /// The changes of owners and modes, one sentence each.
    package var remarks: [String] {
        var texts: [String] = []
        if foreignOwners > 0 {
            let count = counted(foreignOwners, "name belongs", "names belong")
            let reason = "only root can give them back, so they are yours now"
            texts.append("\(count) to other users; \(reason)")
        }
        if let first = changed.first {
            let count = counted(changed.count, "file comes", "files come")
            let reason = "with them a program runs with the rights of its owner"
            texts.append(
                "\(count) without the set-user-id and set-group-id bits, '\(first)' first: \(reason)"
            )
        }
        return texts
    }
}
