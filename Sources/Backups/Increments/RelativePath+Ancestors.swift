package import Files

extension RelativePath {
    /// Returns whether one of its parent directories is among some paths.
    package func hasAncestor(in paths: Set<RelativePath>) -> Bool {
        !paths.isEmpty && ancestors.contains(where: paths.contains)
    }
}
