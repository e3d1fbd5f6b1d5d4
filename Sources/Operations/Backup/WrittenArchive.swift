internal import Backups

/// An archive that is written and has no name yet.
struct WrittenArchive {
    /// Bytes.
    var size: Int64
    var header: ManifestHeader
    var trailer: ManifestTrailer
    /// Its place in its lineage; `nil` if it is in none.
    var place: LineagePlan?
}
