internal import ArgumentParser
internal import Backups
internal import Files
internal import Foundation

/// The names that a shell offers for a word of the command line.
///
/// They come from the configuration and from what this machine remembers of a folder, so that no folder is contacted. If
/// anything is wrong, no names are offered.
enum NameCompletion {
    /// Returns the completion of a backup's name, or of one of some words in place of it.
    static func backups(or words: String...) -> CompletionKind {
        .custom { line, _, _ in
            Self.written(["latest"] + words + ((try? Self.rememberedNames(line)) ?? []))
        }
    }

    /// The completion of a profile's name.
    static var profiles: CompletionKind {
        .custom { line, _, _ in Self.written((try? Self.configuration(line).names) ?? []) }
    }

    /// Returns the names of the backups in the folder of a command line, newest first.
    private static func rememberedNames(_ line: [String]) throws -> [String] {
        let flags = [("--stores", "stores"), ("--remote", "remote")].map { name, key in
            FlagValue(name, key, value(of: name, in: line))
        }
        let profile = try configuration(line).profile(flags)
        let invocation = Invocation(
            profile,
            Console(OutputStyle(json: false, quiet: true)),
            changesNothing: true
        )
        let folder = try RememberedFolder.folder(for: invocation.folder())
        return try WorkThread.wait { try await folder.list().backups }.map(\.displayName)
    }

    private static func configuration(_ line: [String]) throws -> Configuration {
        func value(_ option: String, _ variable: String) -> String? {
            Self.value(of: option, in: line) ?? ProcessEnvironment.value(variable)
        }
        return try Configuration(
            ConfigurationFiles(named: value("--config", "GROCERYDUDE_CONFIG")),
            profile: value("--profile", "GROCERYDUDE_PROFILE")
        )
    }

    /// Returns the value of an option in the words of a shell, which have their quotes, and a `=` apart in bash.
    private static func value(of option: String, in line: [String]) -> String? {
        for (index, word) in line.enumerated().reversed() {
            if word.hasPrefix("\(option)=") { return plain(word.dropFirst(option.count + 1)) }
            guard word == option else { continue }
            let rest = line[(index + 1)...].drop { $0 == "=" }
            return rest.first.map { plain($0[...]) }
        }
        return nil
    }

    /// Returns a shell's word without quotes, with the home directory in place of a tilde.
    private static func plain(_ word: Substring) -> String {
        var text = ""
        var isEscaped = false
        for character in word {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else if isEscaped || character != "'" && character != "\"" {
                text.append(character)
                isEscaped = false
            }
        }
        return word.hasPrefix("~/") ? NSHomeDirectory() + text.dropFirst() : text
    }

    /// Returns the names as the shell's script reads them; names with control characters are left out.
    private static func written(_ names: [String]) -> [String] {
        let printable = names.filter { name in
            !name.utf8.contains { $0 < UInt8(ascii: " ") || $0 == 0x7F }
        }
        switch CompletionShell.requesting {
        // Its script expands each line as the shell does with a word: a name must not become a command.
        case .bash?:
            return printable.map { escaped($0) { $0.isASCII && !$0.isLetter && !$0.isNumber } }
        // Its script takes the text after a colon as a description.
        case .zsh?: return printable.map { escaped($0) { $0 == ":" || $0 == "\\" } }
        default: return printable
        }
    }

    private static func escaped(_ name: String, _ isSpecial: (Character) -> Bool) -> String {
        name.reduce(into: "") { text, character in
            if isSpecial(character) { text.append("\\") }
            text.append(character)
        }
    }
}
