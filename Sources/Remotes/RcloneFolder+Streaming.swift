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
        let output = try await run(["backend", "features", place]).output
        let described = try? JSONDecoder().decode(Described.self, from: Data(output))
        return described?.Features.PutStream ?? false
    }

    public func beginUpload(
        ofAbout size: Int64,
        from directory: FilePath
    ) async throws -> RemoteStream {
        let partial = PartialName.make()
        let sink = try OutgoingStream(directory.appending(partial))
        var job = Rclone.Job(["rcat"] + Self.comparing + [path(of: partial)], of: address)
        job.file = partial
        job.isWriting = true
        // While the stores are counted, nothing comes for a while.
        job.serverBytes = size
        job.input = sink.reading
        let upload = Task { [job, rclone] in try await rclone.run(job).counts.hash }
        return RemoteStream(as: partial, to: sink, upload: upload) { try await delete(partial) }
    }

    public func publish(_ stream: RemoteStream, as name: String) async throws {
        try await move(stream.name, to: self, as: name)
    }
}
