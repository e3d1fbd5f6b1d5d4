internal import Archives
internal import Changes
internal import Files
internal import Foundation
internal import SystemPackage

/// The deltas on their way into the outbox, in as many files as they need.
///
/// The files are on the disk before the transaction of the sidecar ends that records them. Files of a transaction
/// that fails are removed later.
final class Outgoing {
    private let access: SidecarAccess
    private let outbox: FilePath
    /// The clock of the files' headers.
    var clock: UInt64
    private let wall: UInt64
    private let program: String
    /// The rows of which nothing was known, for the next file.
    private var newRows = ChangeFileWriter()
    /// The file that is being written.
    private var writing: BackgroundWork<OwnFile>?
    /// The deltas for the next files, by row: a file contains a row once.
    private var pending: [RowID: (delta: RowDelta, table: TableName)] = [:]
    private var order: [RowID] = []
    private(set) var changes: Int64 = 0

    init(_ access: SidecarAccess, outbox: FilePath, clock: UInt64, wall: Int64, program: String) {
        self.access = access
        self.outbox = outbox
        self.clock = clock
        self.wall = UInt64(clamping: wall)
        self.program = program
    }

    /// Adds a delta, and joins it with others of the same row.
    func add(_ delta: RowDelta, to table: TableName) throws {
        changes += 1
        if let other = pending[delta.id], other.table == table {
            pending[delta.id] = (other.delta.joined(with: delta), table)
            return
        }
        if pending.count >= ChangeFileWriter.fullRows { try flush() }
        pending[delta.id] = (delta, table)
        order.append(delta.id)
    }

    deinit { writing?.close() }

    /// Adds a delta of a row of which nothing was known; it is the only one of its row in a file.
    func addNew(_ delta: RowDelta, to table: TableName) throws {
        changes += 1
        if newRows.isFull { try write(&newRows) }
        try newRows.add(delta, to: table)
    }

    /// Writes the remaining deltas, and waits until all files are written.
    func finish() throws {
        try flush()
        try write(&newRows)
        try settle()
    }

    private func flush() throws {
        var writer = ChangeFileWriter()
        for id in order {
            guard let row = pending[id] else { continue }
            if writer.isFull { try write(&writer) }
            try writer.add(row.delta, to: row.table)
        }
        pending = [:]
        order = []
        try write(&writer)
    }

    /// Begins to write a file of the rows, once the file before it is written.
    private func write(_ rows: inout ChangeFileWriter) throws {
        guard !rows.isEmpty else { return }
        try settle()
        let header = try header()
        let full = rows
        rows = ChangeFileWriter()
        writing = BackgroundWork { [outbox] _ in
            let file = try full.finish(header, deflate: RawDeflate.deflateForMany)
            let name = ContainerName.changes(header, file.id)
            return try Self.write(file, as: name, to: outbox, changes: full.rowCount)
        }
    }

    /// Records the file that was being written.
    private func settle() throws {
        if let file = try writing.take()?.wait() { try access.files.own(file) }
    }

    /// Returns the header of the next file of this device.
    func header() throws -> ChangeHeader {
        let own = try access.membership.own
        let seen = try access.devices.unreported(except: own)
        try access.devices.setReported()
        // A device that has read this file has read all earlier ones.
        try access.set("said", Int64(clock))
        return ChangeHeader(
            group: try access.membership.groups.first ?? .zero,
            device: own,
            clock: clock,
            wall: wall,
            sequence: try access.membership.nextSequence(),
            program: program,
            seen: seen
        )
    }

    /// Returns the header of a file that reports no newly received clocks.
    func plainHeader() throws -> ChangeHeader {
        ChangeHeader(
            group: try access.membership.groups.first ?? .zero,
            device: try access.membership.own,
            clock: clock,
            wall: wall,
            sequence: try access.membership.nextSequence(),
            program: program
        )
    }

    /// Puts a file into the outbox.
    func keep(_ file: WrittenFile, as name: ContainerName) throws {
        try access.files.own(Self.write(file, as: name, to: outbox))
    }

    private static func write(
        _ file: WrittenFile,
        as name: ContainerName,
        to outbox: FilePath,
        changes: Int = 0
    ) throws -> OwnFile {
        try LocalFileSystem().write(file.bytes, to: outbox.appending(name.file))
        return OwnFile(
            id: file.id,
            name: name.file,
            folder: name.folder ?? "",
            size: Int64(file.bytes.count),
            changes: Int64(changes)
        )
    }

    /// Puts a long value into the outbox, unless this device has sent it before.
    func keep(_ reference: BlobReference, _ content: [UInt8]) throws {
        let name = ContainerName.blob(reference.digest)
        let group = try access.membership.groups.first ?? .zero
        let file = try BlobFile.write(content, group: group)
        guard try !access.files.owns(file.id) else { return }
        try keep(file, as: name)
    }

    /// Puts a long value into the outbox again, because the container has lost it.
    func keepAgain(_ reference: BlobReference, _ content: [UInt8]) throws {
        let group = try access.membership.groups.first ?? .zero
        try keep(BlobFile.write(content, group: group), as: .blob(reference.digest))
    }
}
