internal import Backups

/// An archive that is written and has no name yet.
struct WrittenArchive {
    var header: ManifestHeader
    var trailer: ManifestTrailer
}
