internal import Foundation
internal import Remotes

/// The outcome of a first look at an archive on this machine.
enum Glance: Sendable {
    case read(BackupID, ManifestHeader?)
    /// Encrypted, and no key at hand opens it.
    case sealed
    case unreadable(isCutOff: Bool)

    /// The least archives for which another thread is begun.
    private static let leastShare = 32

    /// Looks at archives, on all processors if there are many.
    ///
    /// - Parameters:
    ///   - files: the archives; each has a location.
    ///   - keys: what opens encrypted ones.
    /// - Returns: a glance at each, in their order.
    static func glances(at files: [RemoteFile], keys: BackupKeys) async -> [Glance] {
        let shares = min(
            ProcessInfo.processInfo.activeProcessorCount,
            max(1, files.count / leastShare)
        )
        let share = max(1, (files.count + shares - 1) / shares)
        return await withTaskGroup(of: (Int, [Glance]).self) { group in
            for start in stride(from: 0, to: files.count, by: share) {
                let part = files[start..<min(start + share, files.count)]
                group.addTask { (start, part.map { Glance($0, keys: keys) }) }
            }
            var parts: [(Int, [Glance])] = []
            for await part in group { parts.append(part) }
            return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
        }
    }

    private init(_ file: RemoteFile, keys: BackupKeys) {
        guard let location = file.location else {
            preconditionFailure("an archive elsewhere is not looked at")
        }
        do {
            let found = try ArchivedBackup.glance(at: location, name: file.name, keys: keys)
            self = .read(found.id, found.header)
        } catch let error where error.isOfKeys {
            self = .sealed
        } catch {
            self = .unreadable(isCutOff: ArchivedBackup.isCutOff(location, error))
        }
    }
}
