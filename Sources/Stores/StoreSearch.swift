internal import Files

/// Tells stores from other files by their beginnings: a few at once, many on several threads.
///
/// One thread walks, asks, and is told the answers in the order of its questions. It ends with `finish()`, and with
/// `close()` in any case.
final class StoreSearch {
    /// Files whose beginnings one thread reads.
    private final class Batch: @unchecked Sendable {
        private static let limit = 128

        // The pipeline hands it from one thread to another.
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
    /// Made once there is more than one batch.
    private var pipeline: OrderedPipeline<Batch>?

    /// - Parameters:
    ///   - threads: how many read if there are many files; one needs no other thread.
    ///   - found: told of each file whether it is a store.
    init(threads: Int, found: @escaping (WalkedFile, Result<Bool, any Error>) -> Void) {
        self.threads = threads
        self.found = found
    }

    func look(at file: WalkedFile) throws {
        if !filling.hasRoom(for: file) { try submit() }
        filling.append(file)
    }

    /// Has the rest told.
    func finish() throws {
        if let pipeline {
            pipeline.submit(filling)
            filling = Batch()
            while try pipeline.takeOldest(tell) != nil {}
        } else {
            filling.look()
            tell(filling)
        }
    }

    func close() { pipeline?.close() }

    private func submit() throws {
        guard threads > 1 else { return try finish() }
        let pipeline =
            pipeline ?? OrderedPipeline(threads: threads, makeJob: Batch.init) { { $0.look() } }
        self.pipeline = pipeline
        pipeline.submit(filling)
        filling = try pipeline.vacantJob(tell)
    }

    private func tell(_ batch: Batch) {
        for (file, isStore) in batch.files { found(file, isStore) }
        batch.clear()
    }
}
