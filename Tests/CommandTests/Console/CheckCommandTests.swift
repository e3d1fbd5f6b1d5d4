import TestSupport
import Testing

/// 'check', as a person reads it.
@Suite("Checked backups")
struct CheckCommandTests {
    @Test("Checked backups are listed in aligned columns, whatever the lengths of their names")
    func columns() throws {
        let program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for _ in 1...2 { try program.expect(["backup", "--quiet", "--same-name", "number"]) }
        let text = try program.expect(["check", "--all"]).text
        let places = text.split(separator: "\n").map { line in
            line.firstRange(of: "whole").map {
                line.distance(from: line.startIndex, to: $0.lowerBound)
            }
        }
        #expect(places.count == 2 && places[0] != nil && places[0] == places[1], "\(text)")
    }
}
