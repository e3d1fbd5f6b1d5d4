internal import Changes
internal import Files
internal import Testing

@Suite("Names in a container")
struct ContainerNameTests {
    private static let id = digest(Array("a".utf8))
    private static let device = DeviceID(high: 0xAABB_CCDD_0000_0001, low: 2)
    private static let document = DocumentHeader(group: .zero, device: device, clock: 255)

    private static var header: ChangeHeader {
        var header = ChangeHeader.sample
        header.device = device
        header.clock = 255
        return header
    }

    @Test(
        "Reading returns the parts of a written name",
        arguments: [
            (
                ContainerName.changes(header, id), "log",
                "aabbccdd-0000000007-ca978112ca1bbdca.changes"
            ),
            (.part(header, id), "base", "00000000000000ff-aabbccdd-ca978112ca1bbdca.part"),
            (.baseline(header, id), "base", "00000000000000ff-aabbccdd-ca978112ca1bbdca.base"),
            (
                .card(document, id), "info",
                "aabbccdd000000010000000000000002-00000000000000ff-ca978112ca1bbdca.card"
            ),
            (
                .map(document, id), "info",
                "aabbccdd000000010000000000000002-00000000000000ff-ca978112ca1bbdca.map"
            ),
            (
                .blob(id), "blob-ca",
                "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
            ),
        ]
    )
    func names(name: ContainerName, folder: String, file: String) {
        #expect(name.folder == folder)
        #expect(name.file == file)
        #expect(name.file.utf8.count < 100)
        #expect(ContainerName(file: file, in: folder) == name)
        #expect(ContainerName(file: file, in: "log2") == nil)
        #expect(ContainerName(file: file + " (1)", in: folder) == nil)
        #expect(ContainerName(file: file.uppercased(), in: folder) == nil)
    }

    @Test("A group's marker is in the container's root")
    func group() throws {
        let group = try #require(GroupName("grocery-dude"))
        let name = ContainerName.group(group, GroupID(high: 1, low: 2))
        #expect(name.file == "grocery-dude.00000000000000010000000000000002.group")
        #expect(ContainerName(file: name.file, in: nil) == name)
        #expect(name.folder == nil)
        let longest = try #require(GroupName(String(repeating: "a", count: 40)))
        #expect(ContainerName.group(longest, .zero).file.utf8.count < 100)
    }

    @Test(
        "Any other text is not a name",
        arguments: [
            "", ".", "..", ".changes", "a.changes",
            "aabbccdd-0000000007-ca978112ca1bbdca.changes.tmp",
            "aabbccdd-+000000007-ca978112ca1bbdca.changes", "aabbccdd--ca978112ca1bbdca.changes",
            "aabbccd-0000000007-ca978112ca1bbdca.changes",
            "aabbccdd-00000000077-a978112ca1bbdca.changes",
            "aabbccdd-0000000007-ca978112ca1bbdca (1).changes", ".DS_Store",
        ]
    )
    func others(file: String) {
        for folder in ["log", "base", "info"] {
            #expect(ContainerName(file: file, in: folder) == nil)
        }
    }

    @Test(
        "A group's name is made of a store's name",
        arguments: [
            ("Grocery-Dude.sqlite", "grocery-dude"), ("My  Notes (2).db", "my-notes-2-e0deec7e"),
            ("Äpfel.db", "apfel-ebf2411b"), ("Große.db", "gro-e-25af06ce"),
            ("日本.db", "store-cf2abf0c"), ("a.2023.db", "a-2023-3b76b317"),
            ("...", "store-5ec1f7e7"), ("", "store-e3b0c442"), ("----.sqlite", "store-bd64bb8e"),
            (String(repeating: "ab", count: 30), "ababababababababababababababab-379ae21a"),
        ]
    )
    func groupNames(store: String, name: String) {
        #expect(GroupName(ofStore: store).description == name)
        #expect(GroupName(name) != nil)
    }

    @Test(
        "A group's name has only a few kinds of characters",
        arguments: ["", "A", "a b", "a/b", "ä", "a.b"]
    )
    func badGroups(name: String) {
        #expect(GroupName(name) == nil)
        #expect(GroupName(String(repeating: "a", count: 41)) == nil)
    }
}
