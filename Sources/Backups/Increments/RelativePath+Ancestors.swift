package import Files

extension RelativePath {
    /// Returns whether one of its parent directories is among some paths.
    package func hasAncestor(in paths: Set<RelativePath>) -> Bool {
        guard !paths.isEmpty else { return false }
        var ancestor = parent
        while let path = ancestor {
            if paths.contains(path) { return true }
            ancestor = path.parent
        }
        return false
    }
}
