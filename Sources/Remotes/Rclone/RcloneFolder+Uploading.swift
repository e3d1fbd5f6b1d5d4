internal import Files
internal import Foundation
public import SystemPackage

extension RcloneFolder {
    /// The number of waits for another machine that wants the same name, and the length of each.
    private static let rivalTries = 10
    private static let rivalPause = Duration.milliseconds(500)

    @discardableResult
    public func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        let info = try FileInfo(of: file)
        // An early error is better than one after the upload, where the name is checked reliably.
        if memory.files == nil { _ = try await top.list() }
        if steps.isEmpty, memory.files?.contains(where: { $0.name.exact == name.exact }) == true {
            throw RemoteError.exists(address, name: name)
        }
        let claim = UploadClaim(of: memory.machine, to: name)
        var uploaded = RemoteFile(name: name, size: info.size)
        do {
            uploaded.hash = try await bring(file, info, as: claim)
            try await take(name, with: claim)
        } catch RemoteError.exists(let address, let name) {
            // The file need not be uploaded again to get another name.
            memory.wait(info, claim)
            throw RemoteError.exists(address, name: name)
        } catch {
            // Without a connection, or after an interruption, another request is pointless.
            let isOver = (error as? RemoteError)?.isOfConnection ?? (error is CancellationError)
            if !isOver { try? await top.delete(claim.name) }
            throw await clearer(error, sending: info.size)
        }
        do {
            try await give(name, to: claim, size: info.size)
        } catch RemoteError.exists(let address, let name) {
            memory.wait(info, claim)
            throw RemoteError.exists(address, name: name)
        }
        try LocalFileSystem().remove(file)
        return uploaded
    }

    /// Uploads a file to the remote folder under the name of a claim.
    ///
    /// - Returns: the hash that rclone compared on both sides, if the remote has one.
    private func bring(
        _ file: FilePath,
        _ info: FileInfo,
        as claim: UploadClaim
    ) async throws -> RemoteHash? {
        if let old = memory.waiting(info) {
            try await top.move(old.name, to: top, as: claim.name)
            return nil
        }
        let target = top.path(of: claim.name)
        var job = top.job(["copyto", "--no-traverse"], on: [file.string, target], of: claim.name)
        job.isWriting = true
        job.isUpload = true
        job.serverBytes = info.size
        if steps.isEmpty { job.transfer = (.upload, info.size) }
        memory.change()
        return try await rclone.run(job).counts.hash
    }

    /// Checks that a name is free, and that no other machine takes it meanwhile.
    ///
    /// A machine that sees a claim with priority gives up; one that sees any other claim waits until that is gone. So
    /// of two machines that claim before they look, at most one continues.
    func take(_ name: String, with claim: UploadClaim) async throws {
        var rivals: [UploadClaim] = []
        for _ in 0..<Self.rivalTries {
            let files = try await top.list()
            let names = steps.isEmpty ? files : try await list()
            rivals = files.compactMap { UploadClaim($0.name) }.filter { $0.isRival(of: claim) }
            guard !names.contains(where: { $0.name.exact == name.exact }),
                !rivals.contains(where: { $0.precedes(claim) })
            else { throw RemoteError.exists(address, name: name) }
            // A listing without this claim is late, and says nothing about later claims.
            if rivals.isEmpty, files.contains(where: { $0.name.exact == claim.name.exact }) {
                return
            }
            try rclone.checkCancellation()
            try await Task.sleep(for: Self.rivalPause)
        }
        guard rivals.isEmpty else { throw RemoteError.exists(address, name: name) }
    }

    /// Gives an uploaded file its name.
    ///
    /// - Throws: `RemoteError.exists`; `.unsure` if the remote does not say whether the file has the name.
    func give(_ name: String, to claim: UploadClaim, size: Int64) async throws {
        let target = path(of: name)
        let operands = [top.path(of: claim.name), target]
        var job = job(["moveto", "--ignore-existing"], on: operands, of: name)
        job.isWriting = true
        job.serverBytes = size
        memory.change()
        do {
            // If the name is taken, rclone leaves the file where it is, and reports success.
            guard try await rclone.run(job).counts.renames > 0 else {
                throw RemoteError.exists(address, name: name)
            }
        } catch RemoteError.exists(let address, let name) {
            throw RemoteError.exists(address, name: name)
        } catch let error as RemoteError where error.isOfConnection {
            throw RemoteError.unsure(address, name: name, reason: explain(error))
        } catch let error as RemoteError {
            // Only the answer may have been lost.
            if try await !isGiven(name, to: claim, size: size) { throw error }
        }
    }

    /// Returns whether a file got its name, and removes it if it did not.
    private func isGiven(_ name: String, to claim: UploadClaim, size: Int64) async throws -> Bool {
        do {
            let file = try await listNow().first { $0.name.exact == name.exact }
            guard try await top.contains(claim.name) else { return file?.size == size }
            try await top.delete(claim.name)
            return false
        } catch let error as RemoteError {
            throw RemoteError.unsure(address, name: name, reason: explain(error))
        }
    }

    /// Returns a clearer error if the remote has too little space, since not every server says so when it refuses a
    /// file.
    private func clearer(_ error: any Error, sending size: Int64) async -> any Error {
        switch error {
        case RemoteError.rclone(_, let reason), RemoteError.readOnly(_, let reason):
            guard let free = try? await top.space()?.free, free < size else { return error }
            return RemoteError.noSpace(address, reason: "\(byteCount(free)) are free: \(reason)")
        default: return error
        }
    }

    public func makePartialName() -> String {
        // The name is unique, so it blocks nobody.
        UploadClaim(of: memory.machine, to: PartialName.make()).name
    }

    public func removeLeftovers() async throws -> [String] {
        let listed = if let files = memory.files { files } else { try await top.list() }
        let names = listed.map(\.name).filter { PartialName.matches($0) }
        let own = names.filter { UploadClaim($0)?.machine == memory.machine }
        guard !names.isEmpty else { return [] }
        if !own.isEmpty {
            let pattern = "/\(PartialName.prefix)\(memory.machine)-*\(PartialName.suffix)"
            try await removeFiles(like: pattern, [])
        }
        // A file younger than a day may be another machine's upload.
        if own.count < names.count {
            let pattern = "/\(PartialName.prefix)*\(PartialName.suffix)"
            try await removeFiles(like: pattern, ["--min-age", "24h"])
        }
        return own
    }

    private func removeFiles(like pattern: String, _ options: [String]) async throws {
        let arguments = ["delete", "--max-depth", "1", "--include", pattern] + options
        try await top.run(arguments, isWriting: true)
    }
}
