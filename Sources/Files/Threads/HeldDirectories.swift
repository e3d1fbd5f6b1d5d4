/// The number of directories that a batch of files waiting to be opened keeps open.
///
/// A process may have only some hundred descriptors. If every directory of a tree has one file, each file keeps a
/// directory open.
public struct HeldDirectories: Sendable {
    private static let limit = 16

    private var count = 0
    private var last: ObjectIdentifier?

    public init() {}

    /// Returns whether a file in a directory may join the batch.
    public func hasRoom(for directory: Directory) -> Bool {
        count < Self.limit || last == ObjectIdentifier(directory)
    }

    /// Counts a directory, unless it is the last counted one.
    public mutating func add(_ directory: Directory) {
        guard last != ObjectIdentifier(directory) else { return }
        last = ObjectIdentifier(directory)
        count += 1
    }
}
