/// The settings in force.
struct ConfigShowAnswer: Answer {
    var profile: String?
    var file: String?
    var profiles: [String]
    var settings: [Row]

    struct Row: Encodable {
        var key: String
        var value: ShownValue
        var origin: Place

        /// Whether the setting was made, or has a value to show.
        var isSet: Bool { value != .none && value != .list([]) || origin.kind != "default" }

        init(_ setting: Setting, of profile: Profile) {
            key = setting.key
            value = setting.show(profile)
            origin = Place(profile.origin(of: setting.key))
        }
    }

    /// The place of a setting.
    struct Place: Encodable {
        var kind: String
        /// The name of the flag or the variable.
        var name: String?
        var file: String?
        var line: Int?
        var text: String

        init(_ origin: Origin) {
            text = origin.description
            switch origin {
            case .flag(let name): (kind, self.name) = ("flag", name)
            case .environment(let name): (kind, self.name) = ("environment", name)
            case .file(let path, let line): (kind, file, self.line) = ("file", path, line)
            case .default: kind = "default"
            }
        }
    }

    func write(to console: Console) {
        let places = [["profile", profile ?? "none"], ["file", file ?? "none"]]
        console.answer(lines: Columns(rows: places).lines)
        console.answer("")
        let rows = settings.flatMap { row in
            let lines = row.value.lines.isEmpty ? ["-"] : row.value.lines
            return lines.enumerated().map { index, line in
                index == 0 ? [row.key, line, row.origin.text] : ["", line]
            }
        }
        console.answer(lines: Columns(rows: rows).lines)
    }
}
