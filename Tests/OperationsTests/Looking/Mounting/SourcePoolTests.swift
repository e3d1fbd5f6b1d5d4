import Archives
import Files
import SystemPackage
import Testing

@testable import Operations

@Suite("Sources of open files")
struct SourcePoolTests {
    private func source(_ byte: UInt8) -> MemorySource { MemorySource(path: "x", bytes: [byte]) }

    @Test("The pool keeps only the last few sources that can be reopened, and no unused ones")
    func limit() throws {
        let pool = SourcePool(limit: 2)
        var made = 0
        func read(_ inode: UInt64) throws -> [UInt8] {
            try pool.source(inode) {
                made += 1
                return source(UInt8(inode))
            }.readExactly(count: 1, at: 0)
        }
        for inode: UInt64 in 1...3 {
            pool.retain(inode)
            #expect(try read(inode) == [UInt8(inode)])
        }
        #expect(made == 3)
        #expect(pool.kept(1) == nil && pool.kept(2) != nil && pool.kept(3) != nil)
        #expect(try read(2) == [2] && made == 3)
        // The third was used longer ago.
        #expect(try read(1) == [1] && made == 4)
        #expect(pool.kept(3) == nil)
        pool.retain(2)
        pool.release(2)
        #expect(pool.kept(2) != nil)
        pool.release(2)
        #expect(pool.kept(2) == nil)
        #expect(try read(9) == [9] && pool.kept(9) == nil)
    }
}
