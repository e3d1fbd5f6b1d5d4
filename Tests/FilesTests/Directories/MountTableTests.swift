import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Files

@Suite("What is mounted where, and who holds a directory")
struct MountTableTests {
    private let table = MountTable(
        Array(
            #"""
            21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            22 21 0:5 / /proc rw - proc proc rw
            30 21 8:1 /srv/a\040b /data/my\134dir rw - ext4 /dev/sda1 rw
            31 21 8:2 / /data rw - ext4 /dev/sdb1 rw
            32 31 8:1 /srv/other /data/my\134dir rw - ext4 /dev/sda1 rw
            torn
            """#.utf8
        )
    )

    @Test("A path is of the mount that covers it last, with blanks and backslashes as they are")
    func places() throws {
        #expect(table.mounts.count == 5)
        #expect(table.mounts[2].place.path == "/srv/a b")
        #expect(table.place(of: "/srv/x/y") == .init(device: "8:1", path: "/srv/x/y"))
        #expect(table.place(of: "/data/x") == .init(device: "8:2", path: "/x"))
        #expect(table.place(of: "/data/my\\dir/y") == .init(device: "8:1", path: "/srv/other/y"))
        #expect(table.place(of: "/datax") == .init(device: "8:1", path: "/datax"))
        #expect(MountTable([]).place(of: "/") == nil)
        let place = try #require(table.place(of: "/srv"))
        #expect(table.mounts[2].place.path(below: place) == "a b")
        #expect(place.path(below: place)?.isEmpty == true)
        #expect(table.mounts[3].place.path(below: place) == nil)
        #expect(place.path(below: table.mounts[2].place) == nil)
    }

    @Test(
        "Nobody holds a directory but who works there",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mountinfo"))
    )
    func holders() throws {
        let sandbox = try Sandbox()
        let path = try sandbox.directory("a/b c").resolved()
        let above = path.removingLastComponent()
        #expect(DirectoryHolder.of(above) == [])
        let process = try RunningTool("sh", ["-c", "echo here; read line"], directory: path)
        #expect(try process.readLine() == "here")
        let holder = try #require(DirectoryHolder.of(above).first)
        #expect(try holder.path == RelativePath("b c"))
        #expect(holder.description == "process \(process.processIdentifier) (sh -c) works there")
        #expect(DirectoryHolder.of(path).map(\.path) == [nil])
        #expect(DirectoryHolder.of(path.appending("not there")) == [])
        process.kill()
        #expect(DirectoryHolder.of(above) == [])
    }
}
