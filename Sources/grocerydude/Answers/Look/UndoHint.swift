internal import Files

/// The command that undoes a restore.
enum UndoHint {
    /// Returns the command, in quotes.
    ///
    /// - Parameter paths: what was restored, if not all: what was written since elsewhere is to stay.
    /// - Returns: the command.
    static func command(only paths: [String]) -> String {
        let names = paths.map { path in
            let isPlain = path.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte) || Array("._-/".utf8).contains(byte)
            }
            // A colon is read as one before a table, a minus as one of an option.
            let name = path.contains(":") || path.hasPrefix("-") ? "./\(path)" : path
            return isPlain && name == path
                ? name : "\"" + name.flatMap { "\"\\$`".contains($0) ? ["\\", $0] : [$0] } + "\""
        }
        let only = names.isEmpty ? "" : " --only \(names.joined(separator: " "))"
        return "'grocerydude restore --undo\(only)'"
    }
}
