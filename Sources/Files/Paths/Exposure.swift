internal import Foundation
public import SystemPackage

/// The reason why other users can decide the content of a file: they may change the file, or a directory on its path.
///
/// The rule for root is ssh's (`safe_path` in OpenSSH's misc.c): each component belongs to root, and neither its group
/// nor everybody may write to it. On many systems a user has a private group, and shares files with others through
/// groups. So for a user a path is exposed only if everybody may change it.
public struct Exposure: Sendable, Equatable, CustomStringConvertible {
    public enum Reason: Sendable, Equatable {
        case owner(UInt32)
        case group, everybody
    }

    /// The file, or the directory on its path.
    public let path: FilePath
    public let isDirectory: Bool
    public let reason: Reason

    public var description: String {
        switch reason {
        case .owner(let user): "'\(printable(path))' belongs to user \(user)"
        case .group: "the group of '\(printable(path))' may change it"
        case .everybody: "everybody may change '\(printable(path))'"
        }
    }

    /// Follows a path and its links step by step, to the first place that others may change.
    ///
    /// - Returns: `nil` if there is none, or if the path ends before.
    public init?(of path: FilePath) {
        guard let root = try? FileInfo(of: "/") else { return nil }
        // In a user namespace, the system's files may belong to a user without a number there.
        let trusted: Set = [0, geteuid(), root.owner]
        var rest = Array(Self.absolute(path).components.reversed())
        var place: FilePath = "/"
        var links = 0
        while let step = rest.popLast() {
            if step.kind == .parentDirectory { place.removeLastComponent() }
            guard step.kind == .regular else { continue }
            let next = place.appending(step)
            guard let info = try? FileInfo(of: next) else { return nil }
            if let reason = Self.reason(info, trusted) {
                self.path = next
                isDirectory = info.kind == .directory
                self.reason = reason
                return
            }
            guard info.kind == .link else {
                place = next
                continue
            }
            links += 1
            guard links < 40, let target = try? next.linkTarget() else { return nil }
            if target.isAbsolute { place = "/" }
            rest += target.components.reversed()
        }
        return nil
    }

    /// Finds the reason why other users can decide which files are in a directory.
    ///
    /// Everybody may add files to a sticky directory, and create a directory in it. So the directory must belong to this
    /// user, to root, or to the owner of its parent, who could replace it anyway.
    ///
    /// - Returns: `nil` if there is none, or if the directory does not exist.
    public init?(ofEntriesIn directory: FilePath) {
        if let exposure = Exposure(of: directory) {
            self = exposure
            return
        }
        let path = Self.absolute(directory)
        guard let info = try? FileInfo(of: path),
            let parent = try? FileInfo(of: path.removingLastComponent()),
            let target = try? FileInfo(of: path.resolved())
        else { return nil }
        if ![0, geteuid(), parent.owner].contains(info.owner) {
            reason = .owner(info.owner)
        } else if target.mode & 0o002 != 0 {
            reason = .everybody
        } else if geteuid() == 0, target.mode & 0o020 != 0 {
            reason = .group
        } else {
            return nil
        }
        self.path = path
        isDirectory = true
    }

    private static func reason(_ info: FileInfo, _ trusted: Set<UInt32>) -> Reason? {
        let isRoot = geteuid() == 0
        // The content of /dev/null cannot be changed.
        if case .special = info.kind, info.owner == 0 { return nil }
        if isRoot, !trusted.contains(info.owner) { return .owner(info.owner) }
        // In a sticky directory, users can remove only their own files; a link has no mode.
        if info.kind == .link || info.kind == .directory && info.mode & 0o1000 != 0 { return nil }
        if info.mode & 0o002 != 0 { return .everybody }
        return isRoot && info.mode & 0o020 != 0 ? .group : nil
    }

    private static func absolute(_ path: FilePath) -> FilePath {
        guard !path.isAbsolute, let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return FilePath(platformString: directory).pushing(path)
    }
}

extension Exposure {
    /// Finds a program in a shell command, or a script that it runs, which others may change.
    ///
    /// Only words with a `/` are checked: the search path is the administrator's choice.
    public init?(ofProgramsIn line: String, home: String) {
        var before = ""
        var isScript = false
        for word in Self.words(of: line) {
            // The options of an interpreter precede its script.
            let mayBeScript = isScript
            isScript = Self.isInterpreter(word) || isScript && word.hasPrefix("-")
            if before == "-c", let exposure = Exposure(ofProgramsIn: word, home: home) {
                self = exposure
                return
            }
            before = word
            guard word.contains("/") else { continue }
            var path = word
            for start in ["~/", "$HOME/", "${HOME}/"] where word.hasPrefix(start) {
                path = home + "/" + word.dropFirst(start.count)
            }
            // A command's data may belong to any user.
            guard let info = try? FileInfo(of: FilePath(path).resolved()), info.kind == .file,
                info.mode & 0o111 != 0 || mayBeScript,
                let exposure = Exposure(of: FilePath(path))
            else { continue }
            self = exposure
            return
        }
        return nil
    }

    private static func isInterpreter(_ word: String) -> Bool {
        let name = word.split(separator: "/").last ?? ""
        let names = ["sh", "bash", "dash", "zsh", "ksh", "perl", "ruby", "node", ".", "source"]
        return names.contains { $0 == name } || name.hasPrefix("python")
    }

    /// Returns the words of a line without their quotes, as sh(1) has them before any expansion.
    static func words(of line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, "'\"".contains(character) {
                quote = character
            } else if quote == nil, character.isWhitespace || ";|&()<>`=".contains(character) {
                words.append(word)
                word = ""
            } else {
                word.append(character)
            }
        }
        return (words + [word]).filter { !$0.isEmpty }
    }
}
