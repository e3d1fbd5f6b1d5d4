internal import Operations
internal import Stores

// What the log knows of checks; without it, commands go on.
extension Invocation {
    /// Returns the checks of backups, by file name.
    func checkHistories(of backups: [Backup]) -> [String: CheckHistory] {
        do {
            let checks = try log.lastChecks(in: address)
            return Dictionary(
                backups.compactMap { backup in
                    checks[backup.name].map { (backup.name, CheckHistory($0, size: backup.size)) }
                },
                uniquingKeysWith: { first, _ in first }
            )
        } catch {
            warn("the log cannot be read", error)
            return [:]
        }
    }

    /// Remembers a check, for 'list' and 'status'.
    func remember(_ result: CheckBackups.Result) {
        do {
            try result.record(in: log, address: address, at: now)
        } catch {
            warn("this check was not logged", error)
        }
    }

    /// Forgets the checks of backups that are gone.
    func keepChecks(of backups: [Backup]) {
        do {
            try log.keepChecks(of: Set(backups.map(\.name)), in: address)
        } catch {
            warn("the log was not tidied", error)
        }
    }

    private func warn(_ what: String, _ error: any Error) {
        if output.verbose { context.report(.warning("\(what): \(explain(error))")) }
    }
}
