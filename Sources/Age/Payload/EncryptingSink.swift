public import Files
internal import Synchronization
public import SystemPackage

/// A sink that encrypts its input on all cores, and passes it on to another sink in order.
///
/// One thread writes. It takes a few MiB of memory for each core. The owner ends with `finish()`, and with `close()` in
/// any case.
public final class EncryptingSink: ByteSink, @unchecked Sendable {
    public let path: FilePath

    private let sink: AppendingSink
    private let pipeline: OrderedPipeline<SealJob>
    // These belong to the writing thread.
    private var filling: SealJob?
    private var submitted: Int64 = 0
    private var written: Int64 = 0

    /// Writes the header for the recipients.
    ///
    /// - Parameters:
    ///   - sink: receives the encrypted file from the beginning.
    ///   - recipients: the recipients of the file.
    ///   - threads: the number of threads that encrypt.
    /// - Throws: `AgeError.badRecipients`; what the sink throws.
    public init(to sink: any ByteSink, for recipients: [Recipient], threads: Int) throws {
        let key = FileKey()
        let header = try Header(key, for: recipients)
        let nonce = FileKey.makeNonce()
        path = sink.path
        self.sink = AppendingSink(sink)
        try self.sink.append(header.encoded + nonce)
        let payloadKey = key.payloadKey(nonce: nonce)
        // The library allocates new memory for each chunk.
        MemoryArenas.keepFreed()
        pipeline = OrderedPipeline(threads: threads, makeJob: { SealJob() }) {
            { try $0.seal(with: payloadKey) }
        }
    }

    public var collects: Bool { true }

    /// Encrypts the next bytes, which must follow the previous ones.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        precondition(offset == written, "an encrypted file grows at its end only")
        var rest = bytes[...]
        while !rest.isEmpty {
            let job = try jobToFill()
            rest = rest.dropFirst(job.fill(with: UnsafeRawBufferPointer(rebasing: rest)))
        }
        written += Int64(bytes.count)
    }

    /// Encrypts the rest, and writes the end of the file; nothing may be written afterwards.
    ///
    /// - Returns: the size of the encrypted file in bytes.
    /// - Throws: what the sink throws.
    public func finish() throws -> Int64 {
        // A full job may be the last: only an empty file ends with an empty chunk.
        let last = try filling ?? pipeline.vacantJob(append)
        filling = nil
        submit(last, isLast: true)
        while try pipeline.takeOldest(append) != nil {}
        try sink.finish()
        close()
        return sink.position
    }

    /// Ends the threads, and drops data that was not written yet.
    public func close() {
        pipeline.close()
    }

    /// Returns a job with room.
    ///
    /// A full job is encrypted only after more data arrives, since it may be the last.
    private func jobToFill() throws -> SealJob {
        if let job = filling {
            if job.hasRoom { return job }
            submit(job, isLast: false)
            filling = nil
        }
        let job = try pipeline.vacantJob(append)
        filling = job
        return job
    }

    private func submit(_ job: SealJob, isLast: Bool) {
        job.firstChunk = submitted
        job.isLast = isLast
        submitted += Int64(SealJob.chunks)
        pipeline.submit(job)
    }

    private func append(_ job: SealJob) throws {
        try job.forEachSealed(sink.append)
        job.empty()
    }
}
