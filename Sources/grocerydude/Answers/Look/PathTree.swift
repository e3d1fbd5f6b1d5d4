internal import Files
internal import Operations

/// The files of a backup as a tree; directories precede their content.
struct PathTree {
    private final class Node {
        var children: [ExactString: Node] = [:]
        /// The text behind the name.
        var note = ""
    }

    private let root = Node()

    init(_ files: [ShowBackup.File]) {
        for file in files {
            var node = root
            for name in file.path.utf8.split(separator: UInt8(ascii: "/"))
                .compactMap({ Substring($0).exact })
            {
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

    /// The lines of the tree, with the branches before the names.
    var lines: [String] { Self.lines(below: root, "") }

    private static func lines(below node: Node, _ lead: String) -> [String] {
        let names = node.children.keys.sorted()
        return names.enumerated().flatMap { index, name -> [String] in
            guard let child = node.children[name] else { return [] }
            let isLast = index == names.count - 1
            // A directory of another program's archive may have no entry.
            let note = child.note.isEmpty ? "/" : child.note
            return [lead + (isLast ? "└── " : "├── ") + name.text + note]
                + lines(below: child, lead + (isLast ? "    " : "│   "))
        }
    }
}
