import Files
import Testing

@Suite("The name that a person may have meant")
struct NearestNameTests {
    @Test(
        "is one that differs in a third of its letters at most",
        arguments: [
            ("bakup", ["backup", "restore"], "backup"), ("Sotres", ["Stores", "Remote"], "Stores"),
            ("lst", ["list", "log"], "list"), ("s", ["r", "S"], "S"), ("s", ["r"], nil),
            ("db", ["da", "d"], nil), ("ap", ["app"], "app"), ("stores", ["remote"], nil),
        ] as [(String, [String], String?)]
    )
    func nearest(name: String, names: [String], expected: String?) {
        #expect(nearestName(to: name, among: names) == expected)
    }
}
