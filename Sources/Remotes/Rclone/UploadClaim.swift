internal import Files

/// The hidden name of a file that is being uploaded: it says which machine uploads it, and which name it
/// is to have.
///
/// Two machines that want one name see each other's claims before either takes it.
struct UploadClaim: Equatable {
    /// Stands for a machine and a remote folder.
    let machine: String
    /// Stands for the name that the file is to have.
    let key: String
    private let random: String

    init(of machine: String, to name: String) {
        self.machine = machine
        key = Self.hash(name, length: 8)
        random = Self.random(length: 16)
    }

    /// Reads a name; `nil` for one that is no claim, also if it is another partial file.
    init?(_ name: String) {
        guard PartialName.matches(name) else { return nil }
        let parts = name.dropFirst(PartialName.prefix.count).dropLast(PartialName.suffix.count)
            .split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.map(\.count) == [12, 8, 16] else { return nil }
        (machine, key, random) = (parts[0], parts[1], parts[2])
    }

    /// The file's name.
    var name: String { "\(PartialName.prefix)\(machine)-\(key)-\(random)\(PartialName.suffix)" }

    /// Whether it is this machine's, and wants this name.
    func isOf(_ machine: String, to name: String) -> Bool {
        self.machine == machine && key == UploadClaim(of: machine, to: name).key
    }

    /// Whether both want one name.
    func isRival(of other: UploadClaim) -> Bool { key == other.key && self != other }

    /// Whether this one has the right of way.
    func precedes(_ other: UploadClaim) -> Bool { name < other.name }

    /// Hides a machine in a word of 12 characters, for its claims on a folder.
    ///
    /// Another address of the same folder is another one: its runs do not wait for each other.
    /// - Parameters:
    ///   - secret: known to this machine alone; without one every run is a machine of its own.
    ///   - place: the folder.
    /// - Returns: the word.
    static func machine(_ secret: String?, at place: String) -> String {
        secret.map { hash("\($0)\n\(place)", length: 12) } ?? random(length: 12)
    }

    private static func hash(_ text: String, length: Int) -> String {
        String(Array(text.utf8).withUnsafeBytes { Digest(of: $0) }.description.prefix(length))
    }

    private static func random(length: Int) -> String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return String((String(repeating: "0", count: 16) + digits).suffix(length))
    }
}
