internal import Files

/// A search that separates stores from other files by their beginnings; it reads many files on several threads.
///
/// One thread walks and submits files, and receives the results in the order of its submissions. It ends with
/// `finish()`, and with `close()` in any case.
final class StoreSearch {
    /// The files that one thread reads at a time.
    private final class Batch: @unchecked Sendable {
        private static let limit = 128

        // Only one thread at a time uses these: the pipeline passes the batch from thread to thread.
        var files: [(file: WalkedFile, isStore: Result<Bool, any Error>)] = []
        private var directories = HeldDirectories()

        func hasRoom(for file: WalkedFile) -> Bool {
            files.count < Self.limit && directories.hasRoom(for: file.directory)
        }

        func append(_ file: WalkedFile) {
            directories.add(file.directory)
            files.append((file, .success(false)))
        }

        func look() {
            for index in files.indices {
                files[index].isStore = Result { try StoresDirectory.isStore(files[index].file) }
            }
        }

        func clear() {
            files.removeAll(keepingCapacity: true)
            directories = HeldDirectories()
        }
    }

    private let threads: Int
    private let found: (WalkedFile, Result<Bool, any Error>) -> Void
    private var filling = Batch()
    /// The pipeline; it exists once there is more than one batch.
    private var pipeline: OrderedPipeline<Batch>?

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - threads: the number of threads that read if there are many files; with one, no other thread is used.
    ///   - found: the closure that is called with each file, and whether it is a store.
    init(threads: Int, found: @escaping (WalkedFile, Result<Bool, any Error>) -> Void) {
        self.threads = threads
        self.found = found
    }

    func look(at file: WalkedFile) throws {
        if !filling.hasRoom(for: file) { try submit() }
        filling.append(file)
    }

    /// Reports the remaining files.
    func finish() throws {
        if let pipeline {
            pipeline.submit(filling)
            filling = Batch()
            while try pipeline.takeOldest(report) != nil {}
        } else {
            filling.look()
            report(filling)
        }
    }

    func close() { pipeline?.close() }

    private func submit() throws {
        guard threads > 1 else { return try finish() }
        let pipeline =
            pipeline ?? OrderedPipeline(threads: threads, makeJob: Batch.init) { { $0.look() } }
        self.pipeline = pipeline
        pipeline.submit(filling)
        filling = try pipeline.vacantJob(report)
    }

    private func report(_ batch: Batch) {
        for (file, isStore) in batch.files { found(file, isStore) }
        batch.clear()
    }
}
