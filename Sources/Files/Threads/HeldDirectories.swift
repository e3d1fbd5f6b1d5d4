/// How many directories are held open by a batch of files that wait to be opened in them.
///
/// A process may have some hundred descriptors only, and of a tree whose directories have a file each, every file
/// holds one.
public struct HeldDirectories: Sendable {
    private static let limit = 16

    private var count = 0
    private var last: ObjectIdentifier?

    public init() {}

    /// Whether a file in a directory may wait with the others.
    public func hasRoom(for directory: Directory) -> Bool {
        count < Self.limit || last == ObjectIdentifier(directory)
    }

    /// Counts a directory, unless it is the one that was counted last.
    public mutating func add(_ directory: Directory) {
        guard last != ObjectIdentifier(directory) else { return }
        last = ObjectIdentifier(directory)
        count += 1
    }
}
