internal import Foundation
internal import SystemPackage

/// The memory that is available to this program.
public enum Memory {
    /// Returns whether a block can be allocated and filled, according to the system.
    ///
    /// A successful allocation proves little: Linux may grant more than there is, and kills a program when it uses it.
    public static func isThere(_ bytes: Int64) -> Bool {
        guard let count = Int(exactly: bytes) else { return false }
        // The mapping is subject to this process's limit (`ulimit -v`).
        let access = PROT_READ | PROT_WRITE
        let block = mmap(nil, count, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard block != MAP_FAILED else { return false }
        munmap(block, count)
        return bytes <= min(free("/proc/meminfo"), limit("/proc/self/cgroup"))
    }

    /// Returns the memory that is available to programs; the maximum if it is unknown (proc_meminfo(5)).
    static func free(_ path: FilePath) -> Int64 {
        var bytes: Int64?
        for line in lines(of: path) {
            let words = line.split(separator: " ")
            guard ["MemAvailable:", "SwapFree:"].contains(words.first), words.count > 1,
                let number = Int64(words[1])
            else { continue }
            bytes = (bytes ?? 0) + number << 10
        }
        return bytes ?? .max
    }

    /// Returns the smallest limit of this process's groups; the maximum if there is none (cgroups(7)).
    private static func limit(_ path: FilePath) -> Int64 {
        guard let group = lines(of: path).first(where: { $0.hasPrefix("0::/") })?.dropFirst(4)
        else {
            return .max
        }
        var place = FilePath("/sys/fs/cgroup").appending(String(group))
        var least = Int64.max
        while place.components.count >= 3 {
            least = min(
                least,
                lines(of: place.appending("memory.max")).first.flatMap { Int64($0) } ?? .max
            )
            place.removeLastComponent()
        }
        return least
    }

    private static func lines(of path: FilePath) -> [String] {
        guard let text = try? String(contentsOfFile: path.string, encoding: .utf8) else {
            return []
        }
        return text.split(separator: "\n").map(String.init)
    }
}
