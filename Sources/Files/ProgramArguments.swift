internal import CFiles
public import SystemPackage

/// The arguments with which the program was started.
///
/// `CommandLine` reads them from `/proc`, which may be missing in a chroot or a rescue system.
public enum ProgramArguments {
    /// All arguments, the program's name first.
    ///
    /// Bytes that are not UTF-8 are replaced.
    public static let all: [String] = (0..<cfiles_argument_count()).map {
        String(cString: cfiles_argument($0))
    }

    /// The first argument after the program's name that is not UTF-8; `nil` if all are.
    public static var firstThatIsNoText: FilePath? {
        for index in 0..<cfiles_argument_count() where index > 0 {
            guard let bytes = cfiles_argument(index) else { break }
            if String(validatingCString: bytes) == nil { return FilePath(platformString: bytes) }
        }
        return nil
    }
}
