/// Who made an archive, as its records tell.
public enum ArchiveOrigin: Sendable {
    /// `ArchiveWriter` did: its last entry is the mark that ours end with.
    case ours
    /// Another program unpacked an archive of ours and packed the files anew. The mark came along, but
    /// what it says of the data is no longer so.
    case repacked
    /// Another program did.
    case foreign
}
