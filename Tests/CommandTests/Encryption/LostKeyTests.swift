import Files
import SystemPackage
import TestSupport
import Testing

@Suite("The key of a machine that keeps no state")
struct LostKeyTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
    }

    @Test("is another one each time, and each backup says that earlier ones do not count")
    func lostState() throws {
        func backUp(_ arguments: String...) throws -> Tool.Outcome {
            for name in [".local/state", ".cache"] {
                try LocalFileSystem().remove(program.sandbox.path(name))
            }
            return try program.run(["backup", "--quiet"] + arguments + places)
        }
        #expect(try backUp("--prune", "--keep-last", "1").status == 0)
        for _ in 0..<2 {
            let backup = try backUp("--prune", "--keep-last", "1")
            #expect(backup.status == 3, "\(backup.errors)")
            #expect(backup.errors.contains("to continue its backups"), "\(backup.errors)")
            #expect(backup.errors.contains("grocerydude trust add"), "\(backup.errors)")
        }
        #expect(try backUp("--dry-run").status == 3)
        let pruned = try program.run(["prune", "--keep-last", "1", "--quiet"] + places)
        #expect(pruned.status == 3 && pruned.errors.contains("trust add"), "\(pruned.errors)")
        #expect(try backUp("--accept-changes").status == 0)
        #expect(try program.run(["backup", "--prune", "--keep-last", "1"] + places).status == 0)
        let rows = try program.run(["list", "--json"] + places).json as? [Any]
        #expect(rows?.count == 4)
    }
}
