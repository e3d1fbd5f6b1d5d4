/// The program that made an archive, as the archive's records tell.
public enum ArchiveOrigin: Sendable {
    /// `ArchiveWriter`: the last entry is the mark that our archives end with.
    case ours
    /// Another program, which unpacked an archive of ours and packed the files anew. The mark came along,
    /// but no longer describes the data.
    case repacked
    /// Another program.
    case foreign
}
