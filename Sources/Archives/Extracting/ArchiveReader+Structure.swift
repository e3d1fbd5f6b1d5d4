internal import Files

extension ArchiveReader {
    /// Checks an archive except its data.
    ///
    /// Checks the local records only if they are available.
    ///
    /// - Throws: `ArchiveError`.
    func checkStructure(isAtHand: Bool) throws {
        var places: [(start: UInt64, end: UInt64)] = []
        places.reserveCapacity(count)
        var total: Int64 = 0
        for index in 0..<count {
            let entry = try entry(at: index)
            // A directory has no data that confirms its record, so its two names are compared. Some programs give
            // directories a size, and bytes without a meaning.
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
        let reason = "a file or a symbolic link is where its directory should be"
        return .unsafeEntry(path, entry: entry, reason: reason)
    }

    private func checkNames() throws {
        // Sorted indices take a tenth of the memory of a set of names.
        func key(_ index: Int) throws -> ArraySlice<UInt8> {
            let name = try nameBytes(at: index)
            return name.last == UInt8(ascii: "/") ? name.dropLast() : name
        }
        // With the slash before all other bytes, the names below a directory follow directly after its name.
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

    /// Throws if two names are equal on a file system that ignores case.
    ///
    /// Directories without an entry count too, since two of them would become one. Different Unicode forms of a letter
    /// are equal only if the system treats them as equal.
    public func checkNamesIgnoringCase() throws {
        var seen: [FoldedName: SeenName] = [:]
        var parent: RelativePath?
        for index in 0..<count {
            let path = try entry(at: index).attributes.path
            try note(SeenName(text: path.description, isEntry: true), in: &seen)
            // Most entries are in the same directory as the previous one.
            var next = path.parent
            while let directory = next, directory != parent {
                try note(SeenName(text: directory.description, isEntry: false), in: &seen)
                next = directory.parent
            }
            parent = path.parent
        }
    }

    /// The name of an entry, or of one of its parent directories.
    private struct SeenName {
        var text: String
        var isEntry: Bool
    }

    #if canImport(Darwin)
    // Apple's file systems, like `String`, treat all Unicode forms of a letter as equal.
    private typealias FoldedName = String
    #else
    // Two strings may be equal although the file names are different.
    private typealias FoldedName = [UInt8]
    #endif

    private func note(_ name: SeenName, in seen: inout [FoldedName: SeenName]) throws {
        let key = FoldedName(name.text.lowercased().utf8)
        guard let other = seen[key] else {
            seen[key] = name
            return
        }
        // Only this check handles names that begin with "./".
        guard other.text.utf8.elementsEqual(name.text.utf8), !(other.isEntry && name.isEntry) else {
            throw ArchiveError.duplicateEntry(path, entry: name.text, other: other.text)
        }
        seen[key]?.isEntry = other.isEntry || name.isEntry
    }
}
