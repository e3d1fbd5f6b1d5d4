/// What this machine did in a folder lately, since some clouds list it only after a while.
struct Deeds: Codable, Equatable {
    private static let limit = 50

    /// The names that it gave to backups and has not taken away, the last one last.
    private(set) var names: [String] = []
    /// The annotations that it wrote and has not read since.
    private(set) var annotations: [BackupID: Annotation] = [:]

    mutating func give(_ name: String) {
        take(name)
        names.append(name)
        names.removeFirst(max(0, names.count - Self.limit))
    }

    mutating func take(_ name: String) { names.removeAll { $0 == name } }

    mutating func write(_ annotation: Annotation, of id: BackupID) { annotations[id] = annotation }

    /// Forgets the annotations that others can read by now.
    mutating func forget(_ ids: [BackupID]) {
        for id in ids { annotations[id] = nil }
    }
}
