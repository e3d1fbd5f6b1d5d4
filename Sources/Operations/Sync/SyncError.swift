public import Files
internal import Remotes
public import Sync
public import SystemPackage

/// An error that keeps a store from taking part in a group, fully or partly.
public enum SyncError: ExplainedError {
    // Nothing was changed.

    /// The stores directory has no store of that name.
    case noStore(String, in: FilePath)
    /// The stores directory has no store.
    case noStores(FilePath)
    /// There are several stores, and none was named.
    case severalStores([String], in: FilePath)
    /// None of the stores takes part, or the one that was named does not.
    case notEnabled(String)
    /// The file of a store that takes part is missing.
    case storeGone(String, group: String)
    /// The file with the name of a store that takes part is no longer a store.
    case noStoreAnyMore(String, group: String, reason: String)
    /// The file of a store that takes part cannot be read.
    case unreadableStore(String, group: String, reason: String)
    /// SQLite reports that the store is damaged.
    case damagedStore(String, reason: String)
    /// The store takes part in another group, or through another container.
    case alreadyEnabled(store: String, group: String, container: String)
    /// Another store of this user takes part in the group, whose name was derived from the file's name alone.
    case groupOfOther(store: String, group: String, other: FilePath)
    /// The store cannot sync until the user decides something.
    case refused(store: String, [SyncRefusal])
    /// The store has no table that syncs.
    case nothingToSync(store: String, [LeftOut])
    /// The store, or its directory, is read-only, so that changes of others could not be written.
    case readOnlyStore(String)
    case noTable(String, store: String)
    /// The group has another map than the one that was given.
    case otherMap(group: String)
    case badGroup(String)
    case noContainerNamed
    /// The container is not a directory.
    case containerIsNoFolder(String)
    case containerInsideStores(String, FilePath)
    case storesInsideContainer(FilePath, String)
    /// Another program synchronises the directory that contains the stores.
    case synchronisedFolder(stores: FilePath, folder: FilePath, program: String)
    /// An application has a store open that must be replaced.
    case storeInUse(store: String, by: [LockHolder])
    /// There is no copy from before the store took part.
    case nothingBefore(store: String)
    case noConflict(Int64, store: String)
    /// A row cannot have the values that a person gave it, for this reason.
    case unfit([String], Int64, store: String, reason: String)
    /// Rows have the unique value of another row, and wait until it is free.
    case yielded(store: String, count: Int64)
    /// No other device, or more than one, has that name or id; the payload lists the existing ones.
    case noDevice(String, [String])

    // Something was done.

    /// The container is missing. Local edits are kept, and are sent once it is back.
    case noContainer(String, unsent: Int64)
    /// The container failed, at the start or later; the next run goes on.
    case cutOff(any ExplainedError, unsent: Int64)
    /// An application has the store open.
    case openStore(String, rows: Int64, by: [LockHolder])
    /// Another run of this program has locked the stores directory.
    case lockedStores(FilePath, rows: Int64, by: LockHolder?)
    /// Files of the container have been unreadable for a day; the payload names the first.
    case unreadFiles(store: String, count: Int, first: String, reason: String)
    /// Files that rows name do not travel, for these reasons.
    case filesStay(store: String, [String])
    /// Files of the container have a newer version; the payload has the reason for the first.
    case newerFiles(store: String, count: Int, reason: String)

    public var outcome: FailureOutcome {
        switch self {
        case .noContainer, .containerIsNoFolder: .notFound
        case .cutOff(let cause, _):
            // Space and passwords have outcomes of their own; all else keeps the container from being reached.
            isOfAbsence || FailureOutcome(of: cause) == .failed
                ? .notFound : FailureOutcome(of: cause)
        case .noStoreAnyMore, .damagedStore: .damaged
        case .openStore, .storeInUse: .inUse
        case .lockedStores: .locked
        case .unreadFiles, .newerFiles, .yielded, .filesStay: .partial
        case .noContainerNamed, .severalStores, .badGroup: .usage
        case .noStore, .noStores, .notEnabled, .alreadyEnabled, .refused, .nothingToSync, .noTable,
            .containerInsideStores, .storesInsideContainer, .synchronisedFolder, .nothingBefore,
            .noConflict, .unfit, .noDevice, .storeGone, .unreadableStore, .otherMap,
            .readOnlyStore,
            .groupOfOther:
            .failed
        }
    }

    public var description: String {
        switch self {
        case .noStore(let name, let path): "there is no store '\(name)' in '\(printable(path))'"
        case .noStores(let path): "there is no store in '\(printable(path))'"
        case .severalStores(let names, let path):
            "there are several stores in '\(printable(path))': "
                + names.map { "'\($0)'" }.joined(separator: ", ")
        case .noDevice(let text, let names):
            "'\(text)' names no single device of the group; there "
                + (names.isEmpty ? "is no other" : "are: \(names.joined(separator: ", "))")
        case .storeGone(let name, let group):
            "'\(name)' takes part in '\(group)', but is gone from the stores directory: nothing was sent or deleted"
        case .noStoreAnyMore(let name, let group, let reason):
            "'\(name)' takes part in '\(group)', but is no store any more: \(reason); nothing was sent or deleted"
        case .unreadableStore(let name, let group, let reason):
            "'\(name)' takes part in '\(group)', but cannot be read: \(reason)"
        case .damagedStore(let name, let reason): "the store '\(name)' is damaged: \(reason)"
        case .notEnabled(let name): "'\(name)' does not take part in any group"
        case .alreadyEnabled(let store, let group, let container):
            "'\(store)' takes part in '\(group)' through '\(container)' already"
        case .groupOfOther(let store, let group, let other):
            "'\(store)' cannot join '\(group)': '\(printable(other))' of this machine takes part in it, and the rows of both would become one"
        case .refused(let store, let refusals):
            "'\(store)' cannot sync as it is, nothing was changed: "
                + refusals.map(\.description).joined(separator: "; ")
        case .nothingToSync(let store, let leftOut):
            "'\(store)' has no table that syncs"
                + (leftOut.isEmpty
                    ? "" : ": \(leftOut.map(\.description).joined(separator: "; "))")
        case .readOnlyStore(let store):
            "'\(store)' may not be written: changes of other devices could not arrive"
        case .noTable(let name, let store): "there is no table '\(name)' in '\(store)'"
        case .otherMap(let group): "the group '\(group)' has another map"
        case .badGroup(let name): "'\(name)' is not a valid name for a group"
        case .noContainerNamed: "no container is named"
        case .containerIsNoFolder(let address): "the container '\(address)' is not a directory"
        case .containerInsideStores(let address, let stores):
            "the container '\(address)' is inside the stores directory '\(printable(stores))', or is that directory"
        case .storesInsideContainer(let stores, let address):
            "the stores directory '\(printable(stores))' is inside the container '\(address)'"
        case .synchronisedFolder(let stores, let folder, let program):
            "'\(printable(stores))' is in '\(printable(folder))', which \(program) synchronises: that damages SQLite stores in use"
        case .storeInUse(let store, let users):
            "the store '\(store)' is in use by \(Self.list(users)); it is as it was"
        case .nothingBefore(let store): "there is no copy of '\(store)' from before it took part"
        case .noConflict(let number, let store):
            "'\(store)' has no conflict \(number), or nothing of it can be taken back"
        case .unfit(let values, let number, let store, let reason):
            "conflict \(number) of '\(store)' cannot be taken\(values.isEmpty ? "" : " with ")\(values.joined(separator: ", ")): \(reason)"
        case .yielded(let store, let count):
            "'\(store)': \(counted(Int(count), "row is", "rows are")) not shown, since another row has the same unique value"
        case .noContainer(let address, let unsent):
            "the container '\(address)' is not there, or has nothing of this group"
                + (unsent == 0 ? "" : ": \(Self.waiting(unsent)) on this machine")
        case .cutOff(let cause, let unsent):
            cause.description + (unsent == 0 ? "" : "; \(Self.waiting(unsent)) on this machine")
        case .openStore(let store, let rows, let users):
            "\(Self.waiting(rows)) until '\(store)' is closed: it is in use by \(Self.list(users))"
        case .lockedStores(let path, let rows, let holder):
            "\(Self.waiting(rows)), since '\(printable(path))' is locked by \(holder?.description ?? "another run")"
        case .unreadFiles(let store, let count, let first, let reason):
            "\(counted(count, "file", "files")) for '\(store)' could not be read for a day, such as '\(first)': \(reason)"
        case .filesStay(let store, let reasons):
            "files of '\(store)' do not travel: \(reasons.joined(separator: "; "))"
        case .newerFiles(let store, let count, let reason):
            "\(counted(count, "file", "files")) for '\(store)' of a newer version: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .noStore, .severalStores: "name one with '--store NAME'"
        case .noStores: "name the directory of your stores with '--stores DIR'"
        case .notEnabled:
            "have a store take part with 'grocerydude sync enable --container FOLDER'"
        case .storeGone(let store, _), .noStoreAnyMore(let store, _, _):
            "put it back, or restore it with 'grocerydude restore'; if it is not to come back, run \(Advice.quoted("grocerydude sync disable \(Advice.option("store", store))"))"
        case .unreadableStore(let name, _, _):
            "make sure that you may read '\(name)', and that its disk works"
        case .damagedStore:
            "restore it with 'grocerydude restore', or repair it: https://www.sqlite.org/recovery.html; the next run then asks what its data mean"
        case .alreadyEnabled:
            "leave that group first with 'grocerydude sync disable'; the store stays as it is"
        case .groupOfOther(_, let group, _):
            "name another group with '--group NAME', or \(Advice.quoted(Advice.option("group", group))) if both are to have the same rows"
        case .refused(_, let refusals):
            SyncRefusal.hint(on: refusals)
        case .nothingToSync(_, let leftOut):
            leftOut.first { $0.reason == .noPrimaryKey }.map {
                #"say in a map which columns identify rows: {"tables": {"\#($0.table)": {"identity": ["COLUMN"]}}}, and name its file with '--map FILE'"#
            } ?? "see the names of its tables"
        case .noTable: "see the names of its tables"
        case .readOnlyStore(let store):
            "make sure that you may write to '\(store)' and to its directory, and that its disk is not read-only"
        case .otherMap:
            "leave out '--map', or publish another map for all with 'grocerydude sync seed --map FILE' on a device that takes part"
        case .badGroup: "use 1 to 40 of the letters a to z, digits and hyphens for '--group'"
        case .containerIsNoFolder: "name a directory with '--container FOLDER'"
        case .noContainerNamed: "name a folder that your machines share with '--container FOLDER'"
        case .containerInsideStores, .storesInsideContainer:
            "name a folder elsewhere with '--container FOLDER'"
        case .synchronisedFolder:
            "keep the stores in a directory that no program synchronises, and name a folder there as the container"
        case .storeInUse: "close the application, and try again"
        case .nothingBefore: "leave out '--as-before'"
        case .unfit, .yielded, .noConflict: "see them with 'grocerydude sync conflicts'"
        case .noDevice, .filesStay: "see 'grocerydude sync status'"
        case .noContainer:
            "make sure that its disk is mounted: the next run sends what waits; if it was emptied, run 'grocerydude sync seed'"
        case .cutOff(let cause, _):
            isOfAbsence
                ? "make sure that its disk, the network and the server work: the next run goes on"
                : Advice.after(cause)
        case .openStore:
            "close the application, or write anyway with '--set sync.while_open=true'"
        case .lockedStores: "wait for it with '--lock-wait 60s'; the next run writes what waits"
        case .unreadFiles: "look at the container, and whether its folder is copied completely"
        case .newerFiles: "update this program"
        }
    }

    /// Whether the container is missing, temporarily or permanently.
    public var isOfAbsence: Bool {
        switch self {
        case .noContainer: true
        case .cutOff(let cause as RemoteError, _):
            switch cause {
            case .missing, .notAFolder, .noRemote, .noFile, .unreachable, .stalled, .unsure,
                .rclone:
                true
            default: false
            }
        case .cutOff(FileError.failed(_, _, let errno), _): Self.absences.contains(errno)
        default: false
        }
    }

    /// The errors of a disk or of a file server that became unreachable.
    private static let absences: Set<Errno> = [
        .ioError, .noSuchAddressOrDevice, .staleNFSFileHandle, .timedOut, .hostIsDown,
        .noRouteToHost, .socketNotConnected,
    ]

    private static func waiting(_ count: Int64) -> String {
        counted(Int(count), "change waits", "changes wait")
    }

    private static func list(_ users: [LockHolder]) -> String {
        users.map(\.description).joined(separator: ", ")
    }
}
