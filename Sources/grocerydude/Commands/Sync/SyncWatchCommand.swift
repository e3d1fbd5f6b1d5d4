internal import ArgumentParser
internal import Files
internal import Stores
internal import Sync
internal import Foundation
internal import Operations
internal import Remotes

struct SyncWatchCommand: ExchangingCommand {
    static let configuration = CommandConfiguration(
        "watch",
        "Exchange again whenever a store or the container changes, until Ctrl-C.",
        discussion: """
            With '--json', each exchange that did something is a line. Ctrl-C ends it with exit code 130. An \
            rclone container is listed every 60 seconds unless the setting 'watch_interval' says otherwise.
            """,
        example: "grocerydude sync watch",
        "grocerydude sync watch --set watch_interval=30s --json"
    )

    @OptionGroup var stores: SyncedStoresOption

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    /// The time after a failure until a retry without changes.
    private static let patience = Duration.seconds(60)

    func exchange(_ invocation: Invocation) async throws -> CommandResult {
        // A permanent error ends the command.
        _ = try SyncInputs(invocation).places().enabled(named: stores.store)
        var seen: [String]?
        var retry: ContinuousClock.Instant?
        do {
            while true {
                // The look precedes the exchange, so that no change in between is missed.
                let now = Invocation(invocation.profile, invocation.console)
                let sight = await look(now)
                let isDue = retry.map { $0 <= .now } ?? false
                if sight == nil || sight != seen || isDue {
                    let result = await CommandRun(now).perform(.sync) {
                        await round(now, isFirst: seen == nil)
                    }
                    try Interruption.check()
                    retry = result.isSuccess ? nil : .now + Self.patience
                    if now.console.isAnswerLost { return CommandResult(.done) }
                }
                seen = sight ?? []
                try await wait(
                    invocation.profile.watchInterval ?? (sight == nil ? .seconds(60) : .seconds(5))
                )
            }
        } catch is CancellationError where Interruption.signalNumber != 0 {
            return CommandResult(.signalled(Interruption.signalNumber))
        }
    }

    private func round(_ invocation: Invocation, isFirst: Bool) async -> CommandResult {
        do {
            return try await SyncInputs(invocation).exchange(
                stores.store,
                acceptsChanges: false,
                answersNewsOnly: !isFirst
            )
        } catch {
            return invocation.failure(error)
        }
    }

    /// Returns the states of the stores' files and the container's; `nil` if the container is remote.
    private func look(_ invocation: Invocation) async -> [String]? {
        guard let places = try? SyncInputs(invocation).places(),
            let stores = try? places.enabled(named: self.stores.store)
        else { return [] }
        var lines: [String] = []
        for store in stores {
            // Readers change the log's index.
            for file in store.files where !file.description.hasSuffix("-shm") {
                let info = try? FileInfo.ifPresent(file.below(store.directory))
                lines.append(info.map { "\($0.identity) \($0.size) \($0.modified)" } ?? "-")
            }
            guard let overview = try? places.overview(of: store), let group = overview.group,
                let address = overview.container,
                let folder = try? places.folder(address)
            else { continue }
            guard folder.directory != nil else { return nil }
            for name in ["log", "base", "info"] {
                let files = try? await folder.subfolder(group).subfolder(name).list()
                lines += (files ?? []).map { "\($0.name) \($0.size)" }.sorted()
                // An unreachable container differs from an empty one.
                lines.append(files == nil ? "away" : name)
            }
        }
        return lines
    }

    private func wait(_ interval: Duration) async throws {
        let end = ContinuousClock.now + interval
        while .now < end {
            try Interruption.check()
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
