internal import Files
internal import Foundation

/// The flush of a whole file system to the disk, on a thread of its own: it is the disk that works,
/// so something else can be done meanwhile.
///
/// What was written before it began is durable once `wait()` has returned. The caller ends with
/// `close()` in any case.
///
/// Order of locks: there is one, `condition`; it is never held while the disk works.
final class Flush: @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var result: Result<Void, any Error>?

    /// Nothing is left to be flushed.
    init() {
        result = .success(())
    }

    /// Begins.
    init(ofFileSystemOf directory: Directory) {
        let thread = Thread { [self] in
            let result = Result { try directory.syncFileSystem() }
            condition.withLock {
                self.result = result
                condition.broadcast()
            }
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Waits until all is on the disk.
    ///
    /// - Throws: `FileError`.
    func wait() throws {
        try ended().get()
    }

    /// Waits for the end, however it comes.
    func close() {
        _ = ended()
    }

    private func ended() -> Result<Void, any Error> {
        condition.withLock {
            while true {
                if let result { return result }
                condition.wait()
            }
        }
    }
}
