internal import Files

/// The files of a backup as a tree, each directory before what is in it.
struct PathTree {
    private final class Node {
        var children: [String: Node] = [:]
        /// What stands behind the name.
        var note = ""
    }

    private let root = Node()

    init(_ files: [ShowAnswer.File]) {
        for file in files {
            var node = root
            for name in file.path.split(separator: "/").map(String.init) {
                let next = node.children[name] ?? Node()
                node.children[name] = next
                node = next
            }
            switch file.type {
            case "file": node.note = "  \(byteCount(file.size))"
            case "directory": node.note = "/"
            default: node.note = "  \(file.type)"
            }
        }
    }

    /// A line for each, with the lines that lead to it.
    var lines: [String] { Self.lines(below: root, "") }

    private static func lines(below node: Node, _ lead: String) -> [String] {
        let names = node.children.keys.sorted()
        return names.enumerated().flatMap { index, name -> [String] in
            guard let child = node.children[name] else { return [] }
            let isLast = index == names.count - 1
            // A directory of another program's archive may have no entry.
            let note = child.note.isEmpty ? "/" : child.note
            return [lead + (isLast ? "└── " : "├── ") + name + note]
                + lines(below: child, lead + (isLast ? "    " : "│   "))
        }
    }
}
