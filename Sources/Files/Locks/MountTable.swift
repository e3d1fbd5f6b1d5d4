internal import SystemPackage

/// The mounts that a process sees (mountinfo in proc_pid_mountinfo(5)).
struct MountTable {
    /// A file of a file system, by its path there, wherever the file system is mounted.
    struct Place: Equatable {
        var device: String
        var path: FilePath
    }

    struct Mount {
        /// The mounted part of the file system.
        var place: Place
        /// The path at which it is mounted.
        var point: FilePath
    }

    let mounts: [Mount]

    /// Parses the table in the kernel's format.
    init(_ text: [UInt8]) {
        mounts = text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 4 else { return nil }
            let device = String(decoding: fields[2], as: UTF8.self)
            let place = Place(device: device, path: Self.path(fields[3]))
            return Mount(place: place, point: Self.path(fields[4]))
        }
    }

    /// Reads the table of a process.
    ///
    /// - Throws: `FileError`.
    init(of process: String) throws {
        self.init(try readSystemFile(FilePath("/proc/\(process)/mountinfo")))
    }

    /// Replaces the octal escapes of spaces and the like in a path.
    private static func path(_ field: ArraySlice<UInt8>) -> FilePath {
        var bytes: [CInterop.PlatformChar] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(CInterop.PlatformChar(bitPattern: code))
                rest = rest.dropFirst(3)
            } else {
                bytes.append(CInterop.PlatformChar(bitPattern: byte))
            }
        }
        return FilePath(platformString: bytes + [0])
    }

    /// Returns the place of a path without links; `nil` if it is unknown.
    func place(of path: FilePath) -> Place? {
        // A later mount covers an earlier one.
        var found: Mount?
        for mount in mounts where path.starts(with: mount.point) {
            if mount.point.components.count >= found?.point.components.count ?? 0 { found = mount }
        }
        return found.flatMap { found in
            path.components.dropFirst(found.point.components.count)
                .reduce(found.place) { place, name in
                    Place(device: place.device, path: place.path.appending(name))
                }
        }
    }
}

extension MountTable.Place {
    /// Returns this place's path below another place; empty if they are equal, `nil` if it is not below.
    func path(below other: MountTable.Place) -> FilePath? {
        guard device == other.device, path.starts(with: other.path) else { return nil }
        return FilePath(root: nil, path.components.dropFirst(other.path.components.count))
    }
}
