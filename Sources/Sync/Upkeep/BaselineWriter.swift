internal import Archives
internal import Changes
internal import Files

/// The writer of a baseline: all that this device knows, so that the files that it has read need not be kept.
struct BaselineWriter {
    let access: SidecarAccess
    let outgoing: Outgoing

    /// Writes the parts, and the index that names the files in the state, into the outbox.
    func write(covers: [Digest]) throws {
        var parts: [Digest] = []
        var writer = ChangeFileWriter()
        try access.states.forEachByTable { row in
            if writer.isFull {
                parts.append(try part(writer))
                writer = ChangeFileWriter()
            }
            try writer.add(row.delta, to: row.table)
        }
        if !writer.isEmpty { parts.append(try part(writer)) }
        let header = try outgoing.plainHeader()
        let index = try BaselineIndex.write(header, parts: parts, covers: covers)
        let name = ContainerName.baseline(header, index.id)
        try outgoing.keep(index, as: name)
        try access.files.remember(
            StandIn(id: index.id, name: name.file, parts: parts, covers: covers, complete: nil)
        )
    }

    private func part(_ writer: ChangeFileWriter) throws -> Digest {
        let header = try outgoing.plainHeader()
        let file = try writer.finish(
            header,
            kind: .baselinePart,
            deflate: RawDeflate.deflateForMany
        )
        try outgoing.keep(file, as: .part(header, file.id))
        return file.id
    }
}
