public import Files

extension StorePages {
    /// Reads the leaves of a table's b-tree from the store's pages.
    ///
    /// It hashes all of them, and decodes no row.
    ///
    /// - Parameters:
    ///   - table: the table in the store's schema.
    ///   - key: the key of the hashes, which must be the same for leaves to be compared.
    ///   - check: a closure that is called now and then, and throws to stop.
    /// - Returns: the leaves in the order of their rowids; `nil` if the table has no rowids, or if the pages are not
    ///   as expected. In that case its rows must be read.
    /// - Throws: `StoreError` if pages cannot be read.
    public func leaves(
        of table: TableSchema,
        key: [UInt8],
        check: () throws -> Void = {}
    ) throws -> [Leaf]? {
        try tree(of: table, key: key, check: check)?.leaves
    }

    /// Reads the leaves as `leaves(of:key:)` does, but reads no page of a part that another state shares.
    ///
    /// - Parameters:
    ///   - table: the table in the store's schema.
    ///   - key: the key of the hashes.
    ///   - segments: the segments that the other state shares; for the first of the two states only.
    ///   - other: the other state's leaves, if those were read with `segments`.
    ///   - check: a closure that is called now and then, and throws to stop.
    /// - Returns: the leaves; `nil` in the same cases as `leaves(of:key:)`.
    /// - Throws: `StoreError` if pages cannot be read.
    func tree(
        of table: TableSchema,
        key: [UInt8],
        sharing segments: SharedSegments? = nil,
        with other: LeafTree? = nil,
        check: () throws -> Void = {}
    ) throws -> LeafTree? {
        guard !table.isWithoutRowID, table.rootPage > 1 else { return nil }
        var walk = try LeafWalk(self, key: key, segments, other)
        let end = try walk.visit(table.rootPage, .min ... .max, depth: 0, check)
        return end == .strange ? nil : LeafTree(leaves: walk.leaves, shared: walk.shared)
    }
}

/// A walk of a table's b-tree (https://www.sqlite.org/fileformat2.html, 1.6).
private struct LeafWalk {
    /// The greatest depth: more levels than a table of 2⁶⁴ rows needs.
    private static let depthLimit = 40

    /// The result of the walk below a page.
    enum End {
        /// A page is not as expected.
        case strange
        /// Some of the pages may belong to this state only.
        case own
        /// The other state has all of the pages as well.
        case shared
    }

    private(set) var leaves: [Leaf] = []
    private(set) var shared: [LeafTree.Part] = []
    private let segments: SharedSegments?
    private let other: LeafTree?
    private let pages: PageReader
    private let key: KeyedHash
    /// The number of used bytes in a page; extensions may reserve some at its end.
    private let usable: Int
    /// The number of pages that may still be visited; it ends the walk of a damaged tree.
    private var allowance: Int64

    init(
        _ store: some StorePages,
        key: [UInt8],
        _ segments: SharedSegments?,
        _ other: LeafTree?
    ) throws {
        (self.segments, self.other) = (segments, other)
        pages = PageReader(store)
        self.key = KeyedHash(key: key)
        allowance = store.pageCount
        usable = store.pageSize - (try pages.page(1).map { Int($0[20]) } ?? 0)
    }

    /// Walks the tree below a page, which may hold the given rowids.
    mutating func visit(
        _ number: Int64,
        _ rowIDs: ClosedRange<Int64>,
        depth: Int,
        _ check: () throws -> Void
    ) throws -> End {
        if let known = other?.leaves(below: number, of: rowIDs) {
            leaves += known
            return .shared
        }
        if allowance % 256 == 0 { try check() }
        allowance -= 1
        guard depth < Self.depthLimit, allowance >= 0, let page = try pages.page(number) else {
            return .strange
        }
        let (firstLeaf, firstPart) = (leaves.count, shared.count)
        var isWhole = isShared(number)
        switch page[0] {
        case 5:
            guard let children = Self.children(of: page, rowIDs) else { return .strange }
            for (child, range) in children {
                let end = try visit(child, range, depth: depth + 1, check)
                if end == .strange { return .strange }
                if end == .own { isWhole = false }
            }
        case 13:
            let end = try add(page, rowIDs)
            if end == .strange { return .strange }
            if end == .own { isWhole = false }
        default: return .strange
        }
        guard isWhole else { return .own }
        // This part includes all parts below it.
        shared.removeLast(shared.count - firstPart)
        let own = firstLeaf..<leaves.count
        shared.append(LeafTree.Part(page: number, rowIDs: rowIDs, leaves: own))
        return .shared
    }

    /// Adds a leaf, and hashes its overflow pages as well.
    private mutating func add(
        _ page: UnsafeRawBufferPointer,
        _ rowIDs: ClosedRange<Int64>
    ) throws -> End {
        var hash = key
        hash.update(page)
        // The overflow pages are located first, since reading them overwrites this page in memory.
        guard let chains = overflow(of: page) else { return .strange }
        var end = End.shared
        for chain in chains {
            let next = try add(chain, to: &hash)
            if next == .strange { return .strange }
            if next == .own { end = .own }
        }
        leaves.append(Leaf(rowIDs: rowIDs, hash: hash.finish()))
        return end
    }

    private func isShared(_ number: Int64) -> Bool {
        segments?.has(page: number, ofSize: pages.pageSize) ?? false
    }

    /// Reads the children of an interior page, with the rowids that each may hold.
    private static func children(
        of page: UnsafeRawBufferPointer,
        _ rowIDs: ClosedRange<Int64>
    ) -> [(Int64, ClosedRange<Int64>)]? {
        var children: [(Int64, ClosedRange<Int64>)] = []
        var first = rowIDs.lowerBound
        let count = page.bigEndian16(3)
        guard 12 + 2 * count <= page.count else { return nil }
        for index in 0..<count {
            let cell = page.bigEndian16(12 + 2 * index)
            guard cell + 4 < page.count, let (key, _) = page.varint(cell + 4),
                key >= first, key < rowIDs.upperBound
            else { return nil }
            children.append((page.bigEndian32(cell), first...key))
            first = key + 1
        }
        children.append((page.bigEndian32(8), first...rowIDs.upperBound))
        return children
    }

    // MARK: - Overflow

    /// The overflow pages of a row.
    private struct Chain {
        var first: Int64
        var count: Int64
    }

    /// Returns the overflow pages of a leaf's rows.
    private func overflow(of page: UnsafeRawBufferPointer) -> [Chain]? {
        var chains: [Chain] = []
        let count = page.bigEndian16(3)
        guard 8 + 2 * count <= page.count else { return nil }
        let most = Int64(usable - 35)
        for index in 0..<count {
            let cell = page.bigEndian16(8 + 2 * index)
            guard let (size, behind) = page.varint(cell), size >= 0 else { return nil }
            guard size > most else { continue }
            guard let (_, payload) = page.varint(behind) else { return nil }
            let least = Int64((usable - 12) * 32 / 255 - 23)
            let spread = least + (size - least) % Int64(usable - 4)
            let local = spread <= most ? spread : least
            let end = payload + Int(local)
            guard end + 4 <= page.count else { return nil }
            let room = Int64(usable - 4)
            let pages = (size - local - 1) / room + 1
            chains.append(Chain(first: page.bigEndian32(end), count: pages))
        }
        return chains
    }

    /// Adds a chain's pages to a hash.
    private mutating func add(_ chain: Chain, to hash: inout KeyedHash) throws -> End {
        var next = chain.first
        var end = End.shared
        for _ in 0..<chain.count {
            allowance -= 1
            guard allowance >= 0, let page = try pages.page(next) else { return .strange }
            if !isShared(next) { end = .own }
            hash.update(page)
            next = page.bigEndian32(0)
        }
        return end
    }
}

/// A reader of single pages; it reads pages in runs if they are requested in sequence.
private final class PageReader {
    private static let runLength: Int64 = 32

    private let store: any StorePages
    private let buffer: UnsafeMutableRawBufferPointer
    /// The numbers of the pages in the buffer.
    private var held: Range<Int64> = 0..<0

    init(_ store: some StorePages) {
        self.store = store
        let size = store.pageSize * Int(Self.runLength)
        buffer = .allocate(byteCount: size, alignment: 4_096)
    }

    deinit { buffer.deallocate() }

    var pageSize: Int { store.pageSize }

    /// Returns a page, valid until the next call; `nil` if no page has this number.
    func page(_ number: Int64) throws -> UnsafeRawBufferPointer? {
        guard (1...max(1, store.pageCount)).contains(number) else { return nil }
        let size = store.pageSize
        if !held.contains(number) {
            let wanted = number == held.upperBound ? Self.runLength : 1
            let count = min(wanted, store.pageCount - number + 1)
            held = 0..<0
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(Int(count) * size)])
            let read = try store.read(into: part, at: (number - 1) * Int64(size))
            guard read == part.count else { return nil }
            held = number..<(number + count)
        }
        let start = Int(number - held.lowerBound) * size
        return UnsafeRawBufferPointer(rebasing: buffer[start..<(start + size)])
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func bigEndian16(_ offset: Int) -> Int {
        Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    fileprivate func bigEndian32(_ offset: Int) -> Int64 {
        Int64(UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// Reads a number of up to 9 bytes (https://www.sqlite.org/fileformat2.html, 1.6), and returns it with the
    /// offset after it.
    fileprivate func varint(_ offset: Int) -> (Int64, Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset + index < count else { return nil }
            let byte = self[offset + index]
            if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), offset + 9) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return (Int64(bitPattern: value), offset + index + 1) }
        }
        return nil
    }
}

/// The leaves of a table's b-tree, and the parts of the tree that another state of the store shares.
public struct LeafTree: Sendable {
    /// A part of the tree below one page.
    struct Part {
        var page: Int64
        /// The rowids that it may hold.
        var rowIDs: ClosedRange<Int64>
        /// The range of its leaves in `leaves`.
        var leaves: Range<Int>
    }

    /// The leaves, in the order of their rowids.
    public let leaves: [Leaf]
    /// The largest parts whose pages are all in shared segments, by their first pages.
    private let shared: [Int64: Part]

    init(leaves: [Leaf], shared: [Part]) {
        self.leaves = leaves
        self.shared = Dictionary(shared.map { ($0.page, $0) }) { first, _ in first }
    }

    /// Returns the leaves of a part that is the same in the other state; `nil` if there is no such part.
    func leaves(below page: Int64, of rowIDs: ClosedRange<Int64>) -> ArraySlice<Leaf>? {
        guard let part = shared[page], part.rowIDs == rowIDs else { return nil }
        return leaves[part.leaves]
    }
}

/// The segments with the same bytes in two states of a store, by their digests.
public struct SharedSegments: Sendable {
    private let size: Int64
    private let isShared: [Bool]

    /// Compares digests.
    ///
    /// - Parameters:
    ///   - old: the digests of one state's segments, in order from the first.
    ///   - new: the digests of the other state's segments.
    ///   - size: the length of a segment in bytes: a whole number of pages.
    public init(_ old: [Digest], _ new: [Digest], size: Int) {
        self.size = Int64(size)
        // The last segment of the shorter state may be shorter, and then has another digest.
        isShared = zip(old, new).map { $0 == $1 }
    }

    /// Returns whether a page is the same in both states.
    func has(page number: Int64, ofSize pageSize: Int) -> Bool {
        let index = Int((number - 1) * Int64(pageSize) / size)
        return isShared.indices.contains(index) && isShared[index]
    }
}
