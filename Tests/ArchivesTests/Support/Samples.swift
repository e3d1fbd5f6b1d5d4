@testable internal import Archives
internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

/// An entry and its content, as a test writes or reads it.
struct Sample: Equatable, CustomTestStringConvertible {
    var attributes: EntryAttributes
    var bytes: [UInt8]

    init(
        _ path: String,
        _ bytes: [UInt8] = [],
        kind: EntryAttributes.Kind = .file,
        mode: UInt16 = 0o640,
        modified: Int64 = 1_700_000_000_000_000_000
    ) throws {
        self.bytes = bytes
        attributes = EntryAttributes(
            path: try RelativePath(path),
            kind: kind,
            mode: mode,
            modified: modified
        )
    }

    init(attributes: EntryAttributes, bytes: [UInt8]) {
        self.attributes = attributes
        self.bytes = bytes
    }

    static func == (left: Sample, right: Sample) -> Bool {
        left.attributes == right.attributes && isSame(left.bytes, right.bytes)
    }

    /// A short text for the message of a test that fails.
    var testDescription: String {
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }.description.prefix(8)
        return "\(attributes) \(bytes.count) bytes \(digest)"
    }
}

/// Returns whether bytes are equal, many times faster than `==` without optimization.
func isSame(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.count == right.count && memcmp(left, right, left.count) == 0
}

extension [UInt8] {
    /// Copies bytes, many times faster than the collection's own way without optimization.
    init(copying bytes: UnsafeRawBufferPointer) {
        self.init(unsafeUninitializedCapacity: bytes.count) { buffer, count in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
            count = bytes.count
        }
    }
}

/// The kinds of data that compressors meet.
enum Shape: CaseIterable {
    case zeros, text, random, mixed

    func bytes(_ count: Int) -> [UInt8] {
        var random = Pseudorandom(seed: UInt64(count))
        switch self {
        case .zeros: return [UInt8](repeating: 0, count: count)
        case .text: return random.text(count)
        case .random: return random.bytes(count)
        case .mixed:
            // This shrinks to a little more than half.
            return random.bytes(count / 2) + random.text(count - count / 2)
        }
    }
}

/// Writes an archive, and returns the writer's report of its entries.
@discardableResult
func writeArchive(
    to path: FilePath,
    compression: Compression = .default,
    threads: Int = 2,
    _ fill: (ArchiveWriter) throws -> Void
) throws -> [WrittenEntry] {
    var written: [WrittenEntry] = []
    let file = try File.create(path)
    let writer = ArchiveWriter(to: file, compression: compression, threads: threads) {
        written.append($0)
    }
    defer { writer.close() }
    try fill(writer)
    #expect(try writer.finish() == file.info().size)
    return written
}

/// Writes an archive of samples.
@discardableResult
func writeArchive(
    to path: FilePath,
    compression: Compression = .default,
    threads: Int = 2,
    _ samples: [Sample]
) throws -> [WrittenEntry] {
    try writeArchive(to: path, compression: compression, threads: threads) { writer in
        for sample in samples { try #require(try writer.add(sample)) }
    }
}

extension ArchiveWriter {
    /// Adds a sample in the way a file is added: read in parts.
    func add(_ sample: Sample, isStill: () throws -> Bool = { true }) throws -> Bool {
        try add(sample.attributes, size: Int64(sample.bytes.count), isStill: isStill) {
            buffer,
            offset in
            let part = sample.bytes[Int(offset)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }
}

extension ArchiveReader {
    /// Returns all bytes of an entry.
    func bytes(of entry: Entry) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try read(entry) {
            bytes += [UInt8](copying: $0)
            return true
        }
        return bytes
    }

    /// Returns all entries with their bytes.
    func samples() throws -> [Sample] {
        try (0..<count).map { index in
            let entry = try entry(at: index)
            let bytes = entry.attributes.kind == .directory ? [] : try bytes(of: entry)
            return Sample(attributes: entry.attributes, bytes: bytes)
        }
    }
}

/// Restores all of an archive, with segment tables if they are given.
func extract(
    _ reader: ArchiveReader,
    into directory: FilePath?,
    written: [WrittenEntry] = [],
    syncing: ArchiveItem.Syncing = .byCaller,
    threads: Int = 2,
    progressed: @escaping (Int64) throws -> Void = { _ in }
) throws {
    let extractor = try ArchiveExtractor(
        into: directory.map { try Directory.open($0) },
        syncing: syncing,
        threads: threads,
        progressed: progressed
    )
    defer { extractor.close() }
    for index in 0..<reader.count {
        let entry = try reader.entry(at: index)
        let known = written.first { $0.attributes.path == entry.attributes.path }
        try extractor.extract(
            ArchiveItem(
                entry: entry,
                attributes: known?.attributes ?? entry.attributes,
                segments: known?.segments
            )
        )
    }
    try extractor.finish()
}
