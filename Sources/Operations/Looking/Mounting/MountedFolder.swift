internal import Backups
internal import Files
internal import Foundation
internal import Mounts
internal import Remotes
internal import Synchronization
internal import SystemPackage

/// A tree with the backups of a folder as directories, each by its name, and `latest`, a link to the newest.
///
/// On access, it lists the folder again if the last listing is too old. A backup that cannot be opened still appears
/// as a directory; access to its content fails.
final class MountedFolder: MountedTree {
    /// The time after which a listing is too old: for a folder on this machine, and for one on another.
    private static let (nearPace, farPace) = (Duration.seconds(2), Duration.seconds(30))
    /// The limits for open backups that are not being read: the number of backups, and of their entries.
    private static let (openLimit, nodesLimit) = (4, 50_000)
    private static let latest = Array("latest".utf8)
    /// The inode of the link to the newest backup.
    private static let latestInode: UInt64 = 2

    private struct State {
        /// The backups by the names of their directories.
        var backups: [ExactString: MountedBackup] = [:]
        /// The backups by their numbers.
        var numbers: [UInt64: MountedBackup] = [:]
        /// The name of the newest backup's directory.
        var latest: String?
        /// The last number that was assigned.
        var last: UInt64 = 0
        var listed: ContinuousClock.Instant?
        /// The backups that were accessed, the most recent one last.
        var recent: [MountedBackup] = []
    }

    private let folder: BackupFolder
    private let context: OperationContext
    private let now: @Sendable () -> Date
    private let pace: Duration
    let troubles: MountTroubles
    private let pool = SourcePool()
    private let owner: MountedContent.Owner
    private let state = Mutex(State())
    /// A lock held by the thread that lists the folder.
    private let listing = Mutex(())

    /// Lists a folder.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - context: the scratch directory, and the receiver of failure reports.
    ///   - now: returns the current time, to determine the latest backup.
    ///   - pace: the time after which a listing is too old; `nil` for the default.
    /// - Throws: see `BackupFolder.listWithWaiting`.
    init(
        of folder: BackupFolder,
        context: OperationContext,
        now: @escaping @Sendable () -> Date,
        pace: Duration? = nil
    ) async throws {
        self.folder = folder
        var quiet = context
        // A progress bar for each reader would carry no information.
        quiet.report = { event in
            switch event {
            case .began, .advanced: break
            default: context.report(event)
            }
        }
        self.context = quiet
        self.now = now
        self.pace = pace ?? (folder.remote.directory != nil ? Self.nearPace : Self.farPace)
        troubles = MountTroubles(quiet)
        owner = MountedContent.Owner(user: geteuid(), group: getegid(), isRoot: geteuid() == 0)
        try await list()
    }

    var backups: [Backup] { state.withLock { $0.backups.values.map(\.backup) } }

    // MARK: - Listing

    /// Lists the folder again if the last listing is too old; keeps the last listing if that fails.
    private func refresh() {
        let isOld = state.withLock { $0.listed.map { $0.duration(to: .now) >= pace } ?? true }
        guard isOld else { return }
        // While another thread lists, use the last listing.
        _ = listing.withLockIfAvailable { _ in
            do {
                try WorkThread.wait { try await self.list() }
            } catch {
                state.withLock { $0.listed = .now }
                _ = troubles.errno(error)
            }
        }
    }

    private func list() async throws {
        let (listing, unreachable) = try await folder.listWithWaiting()
        if let unreachable, state.withLock({ $0.listed != nil }) { throw unreachable }
        if let unreachable { context.warnOfUnknown(unreachable) }
        let backups = listing.backups
        let newest = try? await ImpliedBackup.latest(
            in: folder,
            among: backups,
            now: now(),
            fetching: { _ in }
        ).backup
        state.withLock { state in
            let old = Dictionary(grouping: state.numbers.values) { $0.backup.name.exact }
            let names = Self.names(backups)
            state.backups = [:]
            state.numbers = [:]
            state.latest = nil
            for (backup, name) in zip(backups, names) {
                let known = old[backup.name.exact]?.first { $0.isSame(backup) }
                if known == nil { state.last += 1 }
                let mounted = known ?? MountedBackup(backup, number: state.last)
                state.backups[name.exact] = mounted
                state.numbers[mounted.number] = mounted
                if let newest, mounted.isSame(newest) { state.latest = name }
            }
            state.recent.removeAll { state.numbers[$0.number] == nil }
            state.listed = .now
        }
    }

    /// Returns names for the directories of backups: the display names, or the file names if display names collide.
    static func names(_ backups: [Backup]) -> [String] {
        let shown = Dictionary(grouping: backups) { BackupName.display($0.name).exact }
        let files = Set(backups.map(\.name.exact))
        var taken: Set<ExactString> = []
        return backups.map { backup in
            let name = BackupName.display(backup.name)
            let isFree = shown[name.exact]?.count == 1 && Array(name.utf8) != latest
            // The file of another backup may have exactly that name.
            var unique =
                isFree && (name.exact == backup.name.exact || !files.contains(name.exact))
                ? name : backup.name
            // A waiting backup may have the name of an uploaded one.
            while !taken.insert(unique.exact).inserted { unique += " (waiting)" }
            return unique
        }
    }

    // MARK: - The tree

    var extent: (bytes: Int64, files: Int) {
        state.withLock { ($0.numbers.values.reduce(0) { $0 + $1.backup.size }, $0.numbers.count) }
    }

    func node(named name: [UInt8], in directory: UInt64) throws(Errno) -> MountedNode {
        guard directory == MountedNode.root else {
            return try within(directory) { try $0.node(named: name, in: directory) }
        }
        refresh()
        let found = state.withLock { state -> MountedNode? in
            if name == Self.latest, let latest = state.latest { return link(to: latest, state) }
            let text = String(validating: name, as: UTF8.self)
            return text.flatMap { state.backups[$0.exact] }.map(self.directory)
        }
        guard let found else { throw .noSuchFileOrDirectory }
        return found
    }

    func node(_ inode: UInt64) throws(Errno) -> MountedNode {
        switch inode {
        case MountedNode.root:
            return directory(inode, modified: state.withLock { Self.time($0) })
        case Self.latestInode:
            guard let node = state.withLock({ state in state.latest.map { link(to: $0, state) } })
            else { throw .staleNFSFileHandle }
            return node
        default:
            let backup = try backup(of: inode)
            // The directory's attributes are known without opening the backup.
            guard inode != backup.inode else { return self.directory(backup) }
            return try within(inode) { try $0.node(inode) }
        }
    }

    func names(in directory: UInt64) throws(Errno) -> [MountedName] {
        guard directory == MountedNode.root else {
            return try within(directory) { try $0.names(in: directory) }
        }
        refresh()
        return state.withLock { state in
            var names = state.backups.map { name, backup in
                MountedName(name: Array(name.text.utf8), inode: backup.inode, kind: .directory)
            }
            if state.latest != nil {
                names.append(MountedName(name: Self.latest, inode: Self.latestInode, kind: .link))
            }
            return names.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        }
    }

    func target(of link: UInt64) throws(Errno) -> [UInt8] {
        guard link == Self.latestInode else {
            return try within(link) { try $0.target(of: link) }
        }
        guard let latest = state.withLock(\.latest) else { throw .staleNFSFileHandle }
        return Array(latest.utf8)
    }

    func open(_ file: UInt64) throws(Errno) -> any ByteSource {
        try within(file) { [troubles] in try $0.open(file, troubles) }
    }

    private func directory(_ backup: MountedBackup) -> MountedNode {
        directory(backup.inode, modified: backup.time)
    }

    private func directory(_ inode: UInt64, modified: Int64) -> MountedNode {
        MountedNode(
            inode: inode,
            kind: .directory,
            mode: 0o555,
            owner: owner.user,
            group: owner.group,
            size: 0,
            modified: modified,
            isFleeting: true
        )
    }

    private func link(to name: String, _ state: State) -> MountedNode {
        MountedNode(
            inode: Self.latestInode,
            kind: .link,
            mode: 0o777,
            owner: owner.user,
            group: owner.group,
            size: Int64(name.utf8.count),
            modified: Self.time(state),
            isFleeting: true
        )
    }

    /// Returns the time of the newest backup.
    private static func time(_ state: State) -> Int64 {
        state.latest.flatMap { state.backups[$0.exact]?.time } ?? 0
    }

    // MARK: - Opening

    /// Calls a closure with the content of the backup that an inode belongs to.
    private func within<Result>(
        _ inode: UInt64,
        _ body: (MountedContent) throws -> Result
    ) throws(Errno) -> Result {
        let backup = try backup(of: inode)
        let content = try backup.content { (backup) throws(Errno) in try open(backup) }
        touch(backup)
        do {
            return try body(content)
        } catch {
            throw troubles.errno(error, in: backup.backup.displayName)
        }
    }

    private func backup(of inode: UInt64) throws(Errno) -> MountedBackup {
        let number = inode >> MountedContent.bits
        guard let backup = state.withLock({ $0.numbers[number] }) else { throw .staleNFSFileHandle }
        return backup
    }

    private func open(_ mounted: MountedBackup) throws(Errno) -> MountedContent {
        do {
            return try WorkThread.wait { [folder, pool, context, owner] in
                let opened = try await OpenedBackup(
                    mounted.backup,
                    in: folder.home(of: mounted.backup),
                    cache: pool.cache,
                    context: context
                )
                return try MountedContent(
                    opened,
                    number: mounted.number,
                    owner: owner,
                    time: mounted.time,
                    pool: pool
                )
            }
        } catch {
            throw troubles.errno(error, in: mounted.backup.displayName)
        }
    }

    /// Records an access to a backup, and closes the least recently used others beyond the limits.
    private func touch(_ backup: MountedBackup) {
        let idle = state.withLock { state -> [MountedBackup] in
            guard state.recent.last !== backup else { return [] }
            state.recent.removeAll { $0 === backup }
            state.recent.append(backup)
            var idle: [MountedBackup] = []
            while state.recent.count > 1,
                state.recent.count > Self.openLimit
                    || state.recent.reduce(0, { $0 + $1.nodes }) > Self.nodesLimit
            {
                idle.append(state.recent.removeFirst())
            }
            return idle
        }
        for backup in idle { backup.close() }
    }
}
