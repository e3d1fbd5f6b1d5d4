import Foundation
import SystemPackage

/// What strace(1) saw of a program (`-f -y -s 0`), held to the rules that make its data survive a loss
/// of power.
///
/// A system may bring what is written to the disk in any order, unless it is asked (fsync(2),
/// rename(2)); so
/// - a file or directory is on the disk, with all that is in it, before it is renamed;
/// - both directories of a rename are on the disk before the next rename in one of them; if many names move one
///   by one inside a stores directory, before the journal there says the next phase;
/// - all that happened in a directory is on the disk before a journal in it is removed, and at the end.
struct SystemCallTrace {
    /// A rule that was broken.
    struct Breach: Equatable, CustomStringConvertible {
        var line: Int
        var description: String
    }

    private(set) var breaches: [Breach] = []
    private(set) var renames = 0
    private(set) var syncs = 0

    /// What is not on the disk yet: the line of its last change.
    private var content: [FilePath: Int] = [:]
    private var entries: [FilePath: Int] = [:]
    /// Directories in which a rename is not on the disk yet.
    private var renamed: [FilePath: Int] = [:]
    /// Calls that began and have not ended, by thread.
    private var begun: [Substring: (text: String, line: Int)] = [:]
    private let root: FilePath

    /// Reads a trace.
    ///
    /// - Parameters:
    ///   - text: what strace wrote.
    ///   - root: the directory below which the rules hold, but for `tmp` in it.
    init(_ text: String, below root: FilePath) {
        self.root = root
        var number = 0
        for line in text.split(separator: "\n") {
            number += 1
            read(line, number)
        }
        for (path, line) in entries {
            breaches.append(Breach(line: line, description: "\(path) was never synced"))
        }
    }

    private mutating func read(_ line: Substring, _ number: Int) {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return }
        let thread = parts[0]
        let rest = parts[1].drop { $0 == " " }
        if rest.hasSuffix("<unfinished ...>") {
            begun[thread] = (String(rest.dropLast("<unfinished ...>".count)), number)
        } else if rest.hasPrefix("<..."), let start = begun.removeValue(forKey: thread),
            let end = rest.range(of: "resumed>")
        {
            call(start.text + rest[end.upperBound...], from: start.line, to: number)
        } else {
            call(String(rest), from: number, to: number)
        }
    }

    /// A call that ended.
    private mutating func call(_ text: String, from start: Int, to end: Int) {
        guard let open = text.firstIndex(of: "("),
            let equals = text.range(of: " = ", options: .backwards),
            !text[equals.upperBound...].hasPrefix("-1")
        else { return }
        let name = text[..<open]
        let paths = Self.paths(in: text[open..<equals.lowerBound])
        guard let first = paths.first, first.starts(with: root),
            !first.starts(with: root.appending("tmp"))
        else { return }
        switch name {
        // A link has no content that could be synced: it is on the disk with its directory.
        case _ where text.contains("AT_SYMLINK_NOFOLLOW"): break
        case "write", "pwrite64", "writev", "pwritev", "ftruncate", "fallocate", "fchmod", "fchown",
            "utimensat":
            content[first] = start
        case "openat", "open":
            guard text.contains("O_CREAT") else { return }
            content[first] = start
            entries[first.removingLastComponent()] = start
        case "mkdir", "mkdirat", "symlink", "symlinkat":
            entries[paths[paths.count - 1].removingLastComponent()] = start
        case "fsync", "fdatasync":
            syncs += 1
            forget(since: start) { $0 == first }
        case "syncfs":
            syncs += 1
            forget(since: start) { _ in true }
        case "unlink", "unlinkat", "rmdir": remove(first, start)
        case "link", "linkat": rename(first, paths[1], start)
        case "rename", "renameat", "renameat2": rename(first, paths[1], start)
        default: break
        }
    }

    private mutating func forget(since start: Int, _ isSynced: (FilePath) -> Bool) {
        content = content.filter { !isSynced($0.key) || $0.value > start }
        entries = entries.filter { !isSynced($0.key) || $0.value > start }
        renamed = renamed.filter { !isSynced($0.key) || $0.value > start }
    }

    private mutating func rename(_ old: FilePath, _ new: FilePath, _ line: Int) {
        renames += 1
        for path in Set(content.keys).union(entries.keys).sorted(by: { $0.string < $1.string })
        where path.starts(with: old) {
            breaches.append(
                Breach(
                    line: line,
                    description: "\(path) was not synced before \(old) became \(new)"
                )
            )
        }
        content = content.filter { !$0.key.starts(with: old) }
        entries = entries.filter { !$0.key.starts(with: old) }
        let parents = Set([old.removingLastComponent(), new.removingLastComponent()])
        // Names that move one by one are on the disk before the journal says the next phase, in any order.
        let isOneOfMany = Self.isStaged(old) || Self.isStaged(new)
        if new.lastComponent?.string == "journal.json" {
            for (directory, before) in renamed.sorted(by: { $0.value < $1.value })
            where !parents.contains(directory) {
                breaches.append(
                    Breach(
                        line: line,
                        description:
                            "\(directory) was not synced since line \(before) when \(new) was written"
                    )
                )
            }
        }
        for parent in parents where !isOneOfMany {
            if let before = renamed[parent] {
                breaches.append(
                    Breach(
                        line: line,
                        description:
                            "\(parent) was not synced since line \(before) when \(old) became \(new)"
                    )
                )
            }
            entries[parent] = line
        }
        for parent in parents { renamed[parent] = line }
    }

    /// Whether something is in a directory in which a restore keeps names inside the stores directory.
    private static func isStaged(_ path: FilePath) -> Bool {
        let names = path.components.map(\.string)
        guard let area = names.firstIndex(of: ".grocerydude-restore") else { return false }
        let place = names[(area + 1)...].dropLast().first ?? ""
        return ["New", "Old"].contains(place) || place.hasPrefix("FailedRestore")
    }

    private mutating func remove(_ path: FilePath, _ line: Int) {
        let parent = path.removingLastComponent()
        content = content.filter { !$0.key.starts(with: path) }
        entries = entries.filter { !$0.key.starts(with: path) }
        // A missing journal means that all its steps are done.
        let name = path.lastComponent?.string ?? ""
        if name.hasSuffix("_Restore.json") || name == "journal.json",
            let changed = entries[parent]
        {
            breaches.append(
                Breach(
                    line: line,
                    description: "\(parent) was not synced since line \(changed) when \(path) went"
                )
            )
        }
        // An empty scratch directory that comes back is removed by the next run.
        if path.lastComponent?.string.hasPrefix(".grocerydude-scratch.") != true {
            entries[parent] = line
        }
    }

    /// The paths among a call's arguments, those in a directory joined with it.
    private static func paths(in arguments: Substring) -> [FilePath] {
        var paths: [FilePath] = []
        var directory: FilePath?
        var rest = arguments
        while let start = rest.firstIndex(where: { $0 == "\"" || $0 == "<" }) {
            let isName = rest[start] == "\""
            let body = rest[rest.index(after: start)...]
            guard let end = body.firstIndex(of: isName ? "\"" : ">") else { break }
            let path = FilePath(String(body[..<end]))
            rest = body[body.index(after: end)...]
            if !isName {
                if let directory { paths.append(directory) }
                directory = path
            } else if !path.isEmpty {
                paths.append(directory?.pushing(path) ?? path)
                directory = nil
            }
        }
        if let directory { paths.append(directory) }
        return paths
    }
}
