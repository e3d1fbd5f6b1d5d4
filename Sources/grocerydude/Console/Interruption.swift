internal import Processes
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Notices signals that ask the program to stop.
///
/// The first one lets it clean up; a second one ends it at once, and the next run cleans up.
enum Interruption {
    private static let received = Atomic<Int32>(0)

    /// Begins to notice SIGINT, SIGTERM and SIGHUP.
    ///
    /// A closed pipe, and a limit on the size of files, show as errors of the write.
    static func install() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var action = sigaction()
        let handler: @convention(c) (Int32) -> Void = { number in
            if Interruption.received.exchange(number, ordering: .relaxed) != 0 {
                ChildProcess.killWatched()
                _exit(128 + number)
            }
        }
        #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = handler
        #else
        action.__sigaction_handler.sa_handler = handler
        #endif
        // Without SA_RESTART, so that a question is not waited for any longer.
        action.sa_flags = 0
        for number in [SIGINT, SIGTERM, SIGHUP] { install(&action, for: number) }
    }

    /// Leaves a signal alone that whoever started us wanted ignored, as nohup(1) does.
    private static func install(_ action: inout sigaction, for number: Int32) {
        var previous = sigaction()
        sigaction(number, nil, &previous)
        #if canImport(Darwin)
        let handler = previous.__sigaction_u.__sa_handler
        #else
        let handler = previous.__sigaction_handler.sa_handler
        #endif
        if unsafeBitCast(handler, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) {
            sigaction(number, &action, nil)
        }
    }

    /// The signal that was received, or 0.
    static var signalNumber: Int32 { received.load(ordering: .relaxed) }

    /// Waits until a descriptor has input, or its end.
    ///
    /// - Returns: `false` once a signal asks to stop, which may have come to another thread.
    static func waitForInput(on descriptor: Int32) -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, 100) <= 0 {
            if signalNumber != 0 { return false }
        }
        return true
    }

    /// Throws once a signal was received.
    static func check() throws {
        if signalNumber != 0 { throw CancellationError() }
    }
}
