internal import Files

extension ArchiveReader {
    /// Checks all of an archive but its data; records among the data only if that is at hand.
    ///
    /// - Throws: `ArchiveError`.
    func checkStructure(isAtHand: Bool) throws {
        var places: [(start: UInt64, end: UInt64)] = []
        places.reserveCapacity(count)
        var total: Int64 = 0
        for index in 0..<count {
            let entry = try entry(at: index)
            // No data of a directory proves its record: its two names prove each other. Some programs give
            // it a size, and bytes that mean nothing.
            if isAtHand, entry.attributes.kind == .directory { _ = try dataOffset(entry) }
            let record = entry.record
            var length = UInt64(ZipRecords.localLength + record.name.count) + record.compressedSize
            if origin == .ours, record.hasDescriptor {
                length += UInt64(DataDescriptor.length(isWide: record.hasWideSizes))
            }
            places.append((record.offset, record.offset + length))
            let (sum, overflow) = total.addingReportingOverflow(Int64(record.size))
            guard !overflow else {
                throw ArchiveError.beyondLimit(path, reason: "its sizes are beyond all bounds")
            }
            total = sum
        }
        places.sort { $0.start < $1.start }
        for (place, next) in zip(places, places.dropFirst()) where next.start < place.end {
            throw ArchiveError.damaged(path, reason: "the data of two entries overlaps")
        }
        try checkNames()
    }

    func obstructed(_ entry: String) -> ArchiveError {
        let reason = "a file or a symbolic link stands where its directory should be"
        return .unsafeEntry(path, entry: entry, reason: reason)
    }

    private func checkNames() throws {
        // Sorted indices take a tenth of the memory of a set of names.
        func key(_ index: Int) throws -> ArraySlice<UInt8> {
            let name = try nameBytes(at: index)
            return name.last == UInt8(ascii: "/") ? name.dropLast() : name
        }
        // With the slash before all other bytes, what is below a name comes right after it.
        let slash = UInt8(ascii: "/")
        let order = try (0..<count).sorted {
            try key($0).lexicographicallyPrecedes(key($1)) {
                $1 != slash && ($0 == slash || $0 < $1)
            }
        }
        for (index, next) in zip(order, order.dropFirst()) {
            let (name, following) = try (key(index), key(next))
            guard following.starts(with: name) else { continue }
            if following.count == name.count {
                let name = printable(bytes: name)
                throw ArchiveError.duplicateEntry(path, entry: name, other: name)
            }
            if following.dropFirst(name.count).first == slash,
                try nameBytes(at: index).last != slash
            {
                throw obstructed(printable(bytes: following))
            }
        }
    }

    /// Throws if two names differ only in case, as a file system that ignores it would see them.
    ///
    /// Directories without an entry count too, since two of them would become one. Letters that Unicode
    /// can write in several ways are one only if they are for the system.
    public func checkNamesIgnoringCase() throws {
        var seen: [FoldedName: SeenName] = [:]
        var parent: RelativePath?
        for index in 0..<count {
            let path = try entry(at: index).attributes.path
            try note(SeenName(text: path.description, isEntry: true), in: &seen)
            // Most entries are in the directory of the one before.
            var next = path.parent
            while let directory = next, directory != parent {
                try note(SeenName(text: directory.description, isEntry: false), in: &seen)
                next = directory.parent
            }
            parent = path.parent
        }
    }

    /// The name of an entry, or of a directory on the way to one.
    private struct SeenName {
        var text: String
        var isEntry: Bool
    }

    #if canImport(Darwin)
    // To Apple's file systems, as to `String`, all ways to write a letter are one.
    private typealias FoldedName = String
    #else
    // Two strings may be equal although the names of the files are not.
    private typealias FoldedName = [UInt8]
    #endif

    private func note(_ name: SeenName, in seen: inout [FoldedName: SeenName]) throws {
        let key = FoldedName(name.text.lowercased().utf8)
        guard let other = seen[key] else {
            seen[key] = name
            return
        }
        // Names that begin with "./" are looked at only here.
        guard other.text.utf8.elementsEqual(name.text.utf8), !(other.isEntry && name.isEntry) else {
            throw ArchiveError.duplicateEntry(path, entry: name.text, other: other.text)
        }
        seen[key]?.isEntry = other.isEntry || name.isEntry
    }
}
