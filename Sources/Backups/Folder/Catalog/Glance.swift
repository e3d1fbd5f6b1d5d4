internal import Age
internal import Files
internal import Foundation
internal import Remotes

/// The outcome of a first look at an archive on this machine.
enum Glance: Sendable {
    case read(BackupID, ManifestHeader?, BackupSignature)
    /// An encrypted archive that no available key opens.
    case sealed
    /// An archive that cannot be read; `refusal` is the system's reason, if that has one.
    case unreadable(isCutOff: Bool, refusal: String?)

    /// The minimum number of archives for each thread.
    private static let leastShare = 32

    /// Inspects archives, on all processors if there are many.
    ///
    /// - Parameters:
    ///   - files: the archives; each has a location.
    ///   - keys: the keys that open encrypted archives.
    ///   - checkCancellation: called before each archive.
    /// - Returns: a glance for each archive, in the same order.
    /// - Throws: what `checkCancellation` throws.
    static func glances(
        at files: [RemoteFile],
        keys: BackupKeys,
        checkCancellation: @escaping @Sendable () throws -> Void = {}
    ) async throws -> [Glance] {
        let shares = min(
            ProcessInfo.processInfo.activeProcessorCount,
            max(1, files.count / leastShare)
        )
        let share = max(1, (files.count + shares - 1) / shares)
        return try await withThrowingTaskGroup(of: (Int, [Glance]).self) { group in
            for start in stride(from: 0, to: files.count, by: share) {
                let part = files[start..<min(start + share, files.count)]
                group.addTask {
                    let glances = try part.map { file in
                        try checkCancellation()
                        return Glance(file, keys: keys)
                    }
                    return (start, glances)
                }
            }
            var parts: [(Int, [Glance])] = []
            for try await part in group { parts.append(part) }
            return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
        }
    }

    init(_ file: RemoteFile, keys: BackupKeys) {
        guard let location = file.location else {
            preconditionFailure("an archive elsewhere is not looked at")
        }
        do {
            let found = try ArchivedBackup.glance(at: location, name: file.name, keys: keys)
            self = .read(found.id, found.header, found.signature)
        } catch let error where error.isOfKeys {
            self = .sealed
        } catch {
            self = .unreadable(
                isCutOff: ArchivedBackup.isCutOff(location, error),
                refusal: (error as? FileError)?.refusal
            )
        }
    }

    /// Looks at an archive that was read before; needs no key.
    ///
    /// - Returns: `nil` unless it has lost its content.
    init?(ofEmptied file: RemoteFile) {
        guard let location = file.location else { return nil }
        if BackupName.isEncrypted(file.name) {
            do {
                _ = try EncryptedFile(File.open(location))
                return nil
            } catch is AgeError {
                self = .unreadable(isCutOff: false, refusal: nil)
                return
            } catch {
                return nil
            }
        }
        self.init(file, keys: .none)
        guard case .unreadable(_, nil) = self else { return nil }
    }

    /// Marks a backup whose archive could not be read.
    func mark(_ backup: inout Backup) {
        guard case .unreadable(let isCutOff, let refusal) = self else { return }
        backup.isUnreadable = true
        backup.isCutOff = isCutOff
        backup.refusal = refusal
    }
}
