internal import Backups
internal import Files
internal import Operations

/// The answer about a backup made from an archive.
struct ImportAnswer: Answer, JSONConvertible {
    let outcome: ImportArchive.Outcome
    let invocation: Invocation

    var json: JSONObject {
        let (backup, needs) = (outcome.backup, outcome.needs.map(\.name))
        return [
            "messageType": "summary", "name": backup.name, "displayName": backup.displayName,
            "time": invocation.local(outcome.time), "timeSource": outcome.timeSource.rawValue,
            "size": backup.size, "bytes": outcome.bytes, "stores": outcome.stores,
            "unchanged": outcome.wasThere, "replaced": outcome.replaced?.name,
            "needs": needs.isEmpty ? nil : needs, "problems": outcome.problems,
        ]
    }

    func write(to console: Console) {
        for need in outcome.needs { console.done(need.name) }
        console.done(outcome.backup.name)
        let source =
            switch outcome.timeSource {
            case .manifest: "its manifest says"
            case .given: "you said"
            case .name: "its name says"
            case .file: "the last change of its file says"
            }
        console.message(
            outcome.wasThere
                ? "it is there already: nothing was imported"
                : "\(counted(outcome.stores, "store", "stores")), \(byteCount(outcome.bytes)); the time is as \(source)"
        )
        console.message(replacing: outcome.replaced)
    }
}
