internal import Foundation
public import SystemPackage

/// A holder that keeps access to a directory, or to something in it, when another directory takes its name.
///
/// It is a process that works in it, or a mount of it, as in a container.
public struct DirectoryHolder: Sendable, Equatable, CustomStringConvertible {
    enum Way: Sendable, Equatable {
        case works
        /// It is mounted at this path, for all processes in the same mount namespace.
        case mounted(FilePath)
    }

    /// The process; `nil` for a mount that this process sees too.
    let process: LockHolder?
    let way: Way
    /// The held path below the directory; `nil` for the directory itself.
    public let path: RelativePath?

    public var description: String {
        switch (way, process) {
        case (.works, let process?): "\(process) works there"
        case (.works, nil): "a process works there"
        case (.mounted(let point), nil): "it is mounted at '\(printable(point))', too"
        case (.mounted(let point), let process?):
            "\(process) has it mounted at '\(printable(point))'"
        }
    }

    /// Finds the holders of a directory, as far as the system shows them.
    ///
    /// Root sees all processes, others only their own.
    ///
    /// Only names are read, so that an unreachable network disk does not block.
    ///
    /// - Parameter directory: the path of the directory, without links.
    /// - Returns: the holders; none if there is no proc file system.
    public static func of(_ directory: FilePath) -> [DirectoryHolder] {
        guard let own = try? MountTable(of: "self"), let held = own.place(of: directory),
            let processes = try? Directory.open("/proc").names()
        else { return [] }
        var holders: [DirectoryHolder] = []
        func add(_ place: MountTable.Place?, _ process: LockHolder?, _ way: Way) {
            guard let path = place?.path(below: held), !path.isDeleted else { return }
            let below = path.isEmpty ? nil : try? RelativePath(validating: path.bytes)
            guard path.isEmpty || below != nil else { return }
            holders.append(DirectoryHolder(process: process, way: way, path: below))
        }
        for mount in own.mounts where !mount.point.starts(with: directory) {
            add(mount.place, nil, .mounted(mount.point))
        }
        // The first line contains a mount's number, which is unique to its table.
        var tables = [firstLine(of: "self"): own]
        for name in processes {
            guard let number = Int32(name.description), number != getpid() else { continue }
            let key = firstLine(of: name.description)
            if tables[key] == nil, let table = try? MountTable(of: name.description) {
                tables[key] = table
                for mount in table.mounts where !own.has(mount) {
                    add(mount.place, LockHolder(process: number), .mounted(mount.point))
                }
            }
            for link in ["cwd", "root"] {
                guard let path = try? FilePath("/proc/\(number)/\(link)").linkTarget(),
                    path.isAbsolute, path != "/", let place = tables[key]?.place(of: path),
                    place.path(below: held) != nil
                else { continue }
                add(place, LockHolder(process: number), .works)
                break
            }
        }
        return holders
    }

    private static func firstLine(of process: String) -> [UInt8] {
        guard let file = try? File.open(FilePath("/proc/\(process)/mountinfo")) else { return [] }
        let start = try? [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
        return Array((start ?? []).prefix { $0 != UInt8(ascii: "\n") })
    }
}

extension MountTable {
    /// Returns whether this table has the same mount at the same path, since a namespace begins as a copy of another.
    fileprivate func has(_ mount: Mount) -> Bool {
        mounts.contains { $0.place == mount.place && $0.point == mount.point }
    }
}

extension FilePath {
    fileprivate var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: length)) }
    }

    /// Whether the kernel reports the path as deleted.
    fileprivate var isDeleted: Bool {
        let name = bytes
        return name.suffix(9).elementsEqual("//deleted".utf8)
            || name.suffix(10).elementsEqual(" (deleted)".utf8)
    }
}
