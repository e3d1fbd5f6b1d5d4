/// The settings in force.
struct ConfigShowAnswer: Answer {
    var profile: String?
    var file: String?
    var profiles: [String]
    var settings: [Row]

    struct Row: JSONConvertible {
        let key: String
        let value: ShownValue
        let origin: Origin

        /// Whether the setting was made, or has a value to show.
        var isSet: Bool { value != .none && value != .list([]) || origin != .default }

        init(_ setting: Setting, of profile: Profile) {
            key = setting.key
            value = setting.show(profile)
            origin = profile.origin(of: setting.key)
        }

        var json: JSONObject {
            var (kind, name, file, line) = ("default", String?.none, String?.none, Int?.none)
            switch origin {
            case .flag(let text): (kind, name) = ("flag", text)
            case .environment(let text): (kind, name) = ("environment", text)
            case .file(let path, let number): (kind, file, line) = ("file", path, number)
            case .default: break
            }
            let place: JSONObject = [
                "kind": kind, "name": name, "file": file, "line": line, "text": origin.description,
            ]
            return ["key": key, "value": value, "origin": place]
        }
    }

    func write(to console: Console) {
        let places = [["profile", profile ?? "none"], ["file", file ?? "none"]]
        console.answer(lines: Columns(rows: places).lines)
        console.answer("")
        let rows = settings.flatMap { row in
            let lines = row.value.lines.isEmpty ? ["-"] : row.value.lines
            return lines.enumerated().map { index, line in
                index == 0 ? [row.key, line, row.origin.description] : ["", line]
            }
        }
        console.answer(lines: Columns(rows: rows).lines)
    }
}
