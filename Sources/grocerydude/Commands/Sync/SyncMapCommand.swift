internal import ArgumentParser
internal import Changes
internal import Operations
internal import Sync

struct SyncMapCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        "map",
        "Print the map of a store: what its schema does not say.",
        discussion: """
            For a store that takes part, it is the map of its group. For another one it is a proposal: the guesses \
            of 'sync enable' with their evidence on standard error. Correct the file, then name it with '--map'.
            """,
        example: "grocerydude sync map > map.json",
        "grocerydude sync enable --container ~/Dropbox/Sync --map map.json"
    )

    @Option(
        help: "The store, if there are several: its name in the stores directory.".value("name")
    )
    var store: String?

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let places = try SyncInputs(invocation).places()
        let (map, findings) = try places.map(of: places.store(named: store))
        return try invocation.answer(
            MapAnswer(
                map: map,
                text: String(decoding: map.json(), as: UTF8.self),
                findings: findings
            )
        )
    }
}

/// The answer with a store's map.
private struct MapAnswer: Answer, JSONConvertible {
    let map: SyncMap
    let text: String
    let findings: [MapProposal.Finding]

    var json: JSONObject { ["messageType": "summary", "map": map, "findings": findings] }

    func write(to console: Console) {
        for line in findings.lines { console.message(line) }
        console.answer(lines: text.split(separator: "\n").map(String.init))
    }
}
