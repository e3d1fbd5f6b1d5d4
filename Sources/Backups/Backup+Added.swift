internal import Files

/// The backups that are compared with each other.
private struct Series: Hashable {
    var origin: ExactString?
    var isTrusted: Bool
}

extension [Backup] {
    /// The bytes that each backup of this list, newest first, added to what was saved before; `nil` if that is not known.
    ///
    /// An increment added its archive. A full backup added the difference between its archive and the one of the full
    /// backup before it, which may be negative. Only backups of the same origin are compared, and only those that can
    /// be relied on: the first one, safety backups and damaged ones have no number. The archives' sizes are known
    /// without opening any, and hold all files, not only stores.
    public var added: [Int64?] {
        var before: [Series: Int64] = [:]
        var added: [Int64?] = []
        added.reserveCapacity(count)
        for backup in reversed() {
            guard !backup.isSafety, backup.archiveDamage == nil, backup.ownTime != nil else {
                added.append(nil)
                continue
            }
            guard !backup.isIncrement else {
                added.append(backup.size)
                continue
            }
            let series = Series(
                origin: backup.origin?.exact,
                isTrusted: backup.distrust == nil
            )
            added.append(before[series].map { backup.size - $0 })
            before[series] = backup.size
        }
        return added.reversed()
    }
}
