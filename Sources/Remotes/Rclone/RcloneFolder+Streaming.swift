internal import Files
internal import Foundation
public import SystemPackage

extension RcloneFolder: StreamingFolder {
    public func takesStreams() async throws -> Bool {
        struct Described: Decodable {
            struct Features: Decodable {
                var PutStream: Bool?
            }
            var Features: Features
        }
        let output = try await run(["backend", "features"]).output
        let described = try? JSONDecoder().decode(Described.self, from: Data(output))
        return described?.Features.PutStream ?? false
    }

    public func beginUpload(
        as name: String,
        ofAbout size: Int64,
        from directory: FilePath
    ) async throws -> RemoteStream {
        let partial = UploadClaim(of: memory.machine, to: name).name
        let sink = try OutgoingStream(directory.appending(partial))
        var job = top.job(["rcat"], on: [top.path(of: partial)], of: partial)
        job.isWriting = true
        job.isUpload = true
        // No data arrives for a while, as the stores are counted.
        job.serverBytes = size
        job.input = sink.reading
        let upload = Task { [job, rclone] in try await rclone.run(job).counts.hash }
        return RemoteStream(as: partial, to: sink, upload: upload) { try await top.delete($0) }
    }

    public func publish(_ stream: RemoteStream, of size: Int64, as name: String) async throws {
        var claim = UploadClaim(of: memory.machine, to: name)
        if let old = UploadClaim(stream.name), old.isOf(memory.machine, to: name) {
            claim = old
        } else {
            // The intended name is taken.
            try await top.move(stream.name, to: top, as: claim.name)
            stream.rename(to: claim.name)
        }
        try await take(name, with: claim)
        try await give(name, to: claim, size: size)
    }
}
