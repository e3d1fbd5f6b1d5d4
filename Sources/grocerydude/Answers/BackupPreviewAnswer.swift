internal import Backups
internal import Files
internal import Operations

/// The answer about a backup that was only planned.
struct BackupPreviewAnswer: Answer, JSONConvertible {
    let preview: BackupPreview
    let invocation: Invocation

    var json: JSONObject {
        [
            "messageType": "plan", "profile": invocation.profile.name, "name": preview.name,
            "remote": invocation.address, "backups": preview.backups,
            "kind": preview.needs.isEmpty ? "full" : "increment", "needs": preview.needs,
            "waiting": preview.waitsFor != nil, "bytes": preview.bytes, "stores": preview.stores,
            "files": preview.files.map { $0.json(invocation) }, "leftOut": preview.leftOut,
            "leftOutPaths": preview.leftOutPaths, "problems": preview.problems,
        ]
    }

    func write(to console: Console) {
        console.answer("would save '\(preview.name)'")
        console.answer(columns: Columns(rows: facts))
        console.answer("")
        console.answer(lines: preview.files.lines(invocation))
    }

    private var facts: [[String]] {
        let known = preview.backups.map { " (\(counted($0, "backup", "backups")))" } ?? ""
        let remote = invocation.address
        let place =
            preview.waitsFor != nil
            ? "this machine, until '\(remote)' can be reached" : "'\(remote)'\(known)"
        let needs = preview.needs
        let base = needs.last.map { "increment on '\(BackupName.display($0))'" }
        let more = needs.count > 1 ? ", needs \(needs.count - 1) more" : ""
        let content =
            "\(counted(preview.stores.count, "store", "stores")) and \(counted(preview.files.count, "entry", "entries")), \(byteCount(preview.bytes)) before compression"
        let rest = preview.leftOut - preview.leftOutPaths.count
        return [["to", place], ["kind", base.map { $0 + more } ?? "full"], ["size", content]]
            + preview.leftOutPaths.map { ["left out", $0] }
            + (rest > 0 ? [["left out", "\(rest) more"]] : [])
            + preview.problems.summarized.map { ["problem", $0.description] }
    }
}
