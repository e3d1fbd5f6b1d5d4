import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// What became of each file of the test data, held against a table in the repository that was gone
/// through line by line: `Fixtures/verdicts/NAME.txt`.
struct Verdicts {
    private let name: String
    private var lines: [String] = []

    init(_ name: String) {
        self.name = name
    }

    /// Which files are gone through: a third of them, or all where the tables are asked for, since
    /// every run of the program takes a tenth of a second.
    static func sample(of files: [FilePath]) -> [FilePath] {
        if ProcessInfo.processInfo.environment["GROCERYDUDE_VERDICTS"] != nil { return files }
        return files.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
    }

    /// Notes what became of a file.
    mutating func note(_ path: FilePath, _ verdict: String) {
        let root = Corpora.path.components.count
        let relative = path.components.dropFirst(root).map(\.string).joined(separator: "/")
        lines.append("\(relative)\t\(verdict)")
    }

    /// Holds the verdicts against the table; writes them where `GROCERYDUDE_VERDICTS` says.
    func compare() throws {
        let lines = lines.sorted()
        if let directory = ProcessInfo.processInfo.environment["GROCERYDUDE_VERDICTS"] {
            let text = lines.joined(separator: "\n") + "\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(name).txt"))
        }
        let text = try String(decoding: Fixtures.read("verdicts/\(name).txt"), as: UTF8.self)
        let noted = Set(lines.map { $0.prefix { $0 != "\t" } })
        let expected = text.split(separator: "\n").filter { line in
            noted.contains(line.prefix { $0 != "\t" })
        }.map(String.init)
        let difference = lines.difference(from: expected)
        #expect(difference.isEmpty, "\(difference.map { "\($0)" }.joined(separator: "\n"))")
        print("verdicts on \(lines.count) files as in Fixtures/verdicts/\(name).txt")
    }
}
