public import Files
internal import Synchronization
public import SystemPackage

/// Encrypts what is written to it, on all cores, and hands it on to another sink in its order.
///
/// One thread writes. Memory is a few MiB for each core. The owner ends with `finish()`, and with `close()`
/// in any case.
public final class EncryptingSink: ByteSink, @unchecked Sendable {
    public let path: FilePath

    private let sink: AppendingSink
    private let pipeline: OrderedPipeline<SealJob>
    // The writing thread's only.
    private var filling: SealJob?
    private var submitted: Int64 = 0
    private var written: Int64 = 0

    /// Writes the header for those who may read.
    ///
    /// - Parameters:
    ///   - sink: gets the encrypted file from its beginning on.
    ///   - recipients: those who may read it.
    ///   - threads: how many threads encrypt.
    /// - Throws: `AgeError.badRecipients`; what the sink throws.
    public init(to sink: any ByteSink, for recipients: [Recipient], threads: Int) throws {
        let key = FileKey()
        let header = try Header(key, for: recipients)
        let nonce = FileKey.makeNonce()
        path = sink.path
        self.sink = AppendingSink(sink)
        try self.sink.append(header.encoded + nonce)
        let payloadKey = key.payloadKey(nonce: nonce)
        // The library has new memory for each chunk.
        MemoryArenas.keepFreed()
        pipeline = OrderedPipeline(threads: threads, makeJob: { SealJob() }) {
            { try $0.seal(with: payloadKey) }
        }
    }

    public var collects: Bool { true }

    /// Takes the next bytes, which belong behind the last ones.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        precondition(offset == written, "an encrypted file grows at its end only")
        var rest = bytes[...]
        while !rest.isEmpty {
            let job = try jobToFill()
            rest = rest.dropFirst(job.fill(with: UnsafeRawBufferPointer(rebasing: rest)))
        }
        written += Int64(bytes.count)
    }

    /// Encrypts what is left, ends the file and writes all of it; nothing more may follow.
    ///
    /// - Returns: bytes in the encrypted file.
    /// - Throws: what the sink throws.
    public func finish() throws -> Int64 {
        // A full one is the last as well: only an empty file ends with an empty chunk.
        let last = try filling ?? pipeline.vacantJob(append)
        filling = nil
        submit(last, isLast: true)
        while try pipeline.takeOldest(append) != nil {}
        try sink.finish()
        close()
        return sink.position
    }

    /// Ends the threads; what was not written yet is dropped.
    public func close() {
        pipeline.close()
    }

    /// Returns a job with room; a full one is only encrypted once more follows.
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
