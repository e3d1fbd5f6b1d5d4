internal import Foundation
internal import Processes
internal import Synchronization

/// The handling of signals that ask the program to stop.
///
/// After the first signal the program cleans up. A second one ends it at once, and the next run cleans up.
enum Interruption {
    private static let received = Atomic<Int32>(0)

    /// Starts to handle SIGINT, SIGTERM and SIGHUP.
    ///
    /// A closed pipe, and a limit on the size of files, appear as errors of the write.
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
        // Without SA_RESTART, a signal ends the wait for an answer.
        action.sa_flags = 0
        for number in [SIGINT, SIGTERM, SIGHUP] { install(&action, for: number) }
    }

    /// Keeps a signal ignored if the parent process ignored it, as nohup(1) does.
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

    /// The number of the received signal, or 0.
    static var signalNumber: Int32 { received.load(ordering: .relaxed) }

    /// Waits until a descriptor has input, or is at its end.
    ///
    /// - Returns: `false` if a signal asks to stop; it may have been delivered to another thread.
    static func waitForInput(on descriptor: Int32) -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, 100) <= 0 {
            if signalNumber != 0 { return false }
        }
        return true
    }

    /// Throws if a signal was received.
    static func check() throws {
        if signalNumber != 0 { throw CancellationError() }
    }
}
