internal import Files

/// The hidden name of a file during its upload.
///
/// It identifies the uploading machine and the wanted name.
///
/// Two machines that want the same name see each other's claims before either takes it.
struct UploadClaim: Equatable {
    /// A hash that identifies a machine at a remote folder.
    let machine: String
    /// A hash of the wanted name.
    let key: String
    private let random: String

    init(of machine: String, to name: String) {
        self.machine = machine
        key = Self.hash(name, length: 8)
        random = Self.random(length: 16)
    }

    /// Parses a name; `nil` for one that is no claim, even if it is another partial file's.
    init?(_ name: String) {
        guard PartialName.matches(name) else { return nil }
        let parts = name.dropFirst(PartialName.prefix.count).dropLast(PartialName.suffix.count)
            .split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.map(\.count) == [12, 8, 16] else { return nil }
        (machine, key, random) = (parts[0], parts[1], parts[2])
    }

    /// The file's name.
    var name: String { "\(PartialName.prefix)\(machine)-\(key)-\(random)\(PartialName.suffix)" }

    /// Returns whether the claim is this machine's, and for this name.
    func isOf(_ machine: String, to name: String) -> Bool {
        self.machine == machine && key == UploadClaim(of: machine, to: name).key
    }

    /// Returns whether both claims are for the same name.
    func isRival(of other: UploadClaim) -> Bool { key == other.key && self != other }

    /// Returns whether this claim has priority.
    func precedes(_ other: UploadClaim) -> Bool { name < other.name }

    /// Returns a machine's name in its claims on a folder, a hash of 12 characters.
    ///
    /// Runs with another address of the same folder do not recognize each other, and do not wait for each other.
    /// - Parameters:
    ///   - secret: a secret of this machine; without one, every run counts as a separate machine.
    ///   - place: the folder.
    /// - Returns: the hash.
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
