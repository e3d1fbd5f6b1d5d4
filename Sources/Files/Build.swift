internal import CFiles

/// The build of the program.
public enum Build {
    /// The commit that the program was built from; `nil` if the build did not say it.
    public static var commit: String? {
        let commit = String(cString: cfiles_commit())
        return commit.isEmpty ? nil : commit
    }
}
