internal import Files
internal import Operations
internal import Sync
internal import SystemPackage

extension Hint {
    /// Returns the advice after an error of sync.
    static func after(_ error: SyncError) -> String? {
        switch error {
        case .noStore, .severalStores: "name one with '--store NAME'"
        case .noStores: "name the directory of your stores with '--stores DIR'"
        case .notEnabled: "have a store take part with 'grocerydude sync enable --container FOLDER'"
        case .noContainerNamed, .containerInsideStores, .storesInsideContainer,
            .containerIsNoFolder:
            error.hint.map { "\($0) with '--container FOLDER'" }
        case .groupOfOther(_, let group, _):
            "name another group with '--group NAME', or '--group \(group)' if both are to have the same rows"
        case .badGroup: error.hint.map { "\($0) for '--group'" }
        case .refused(_, let refusals): Hint.after(refusals)
        case .nothingToSync(_, let leftOut): Hint.after(leftOut)
        case .openStore: "close the application, or write all the same with '--while-open'"
        case .lockedStores: "wait for it with '--lock-wait 60s'; the next run writes what waits"
        case .storeGone(let store, _), .noStoreAnyMore(let store, _, _):
            "put it back, or restore it with 'grocerydude restore'; if it is not to come back, run 'grocerydude sync disable --store \(store)'"
        case .damagedStore:
            "restore it with 'grocerydude restore', or repair it: https://www.sqlite.org/recovery.html; the next run then asks what its data mean"
        case .alreadyEnabled:
            "leave that group first with 'grocerydude sync disable'; the store stays as it is"
        case .otherMap:
            "leave out '--map', or publish another map for all with 'grocerydude sync seed --map FILE' on a device that takes part"
        case .nothingBefore: "leave out '--as-before'"
        case .noConflict: "see them with 'grocerydude sync conflicts'"
        case .noContainer:
            "see that its disk is mounted: the next run sends what waits; if it was emptied, run 'grocerydude sync seed'"
        case .noDevice: "see 'grocerydude sync status'"
        case .cutOff(let cause, _) where !error.isOfAbsence: Hint.after(cause)
        case .cutOff, .noTable, .synchronisedFolder, .storeInUse, .unreadFiles, .newerFiles,
            .readOnlyStore, .unreadableStore:
            error.hint
        }
    }

    /// Returns the advice where what is kept of a store cannot be used.
    static func after(_ error: SidecarError) -> String? {
        switch error {
        case .damaged(let path, _):
            "move '\(printable(path.removingLastComponent()))' away, and take part again with 'grocerydude sync enable'"
        case .tooNew: "update this program"
        case .noSpace(let path): "free some space where '\(printable(path))' is, and try again"
        case .unreadable: nil
        }
    }

    /// Returns the advice where only the user knows what the data mean.
    static func after(_ decision: SyncDecision) -> String? {
        switch decision {
        case .newMap: "if that is right, run 'grocerydude sync --accept-changes'"
        case .manyGone:
            "if that is right, run 'grocerydude sync --accept-changes'; to have the rows back from the others, run 'grocerydude sync rejoin --take merge'"
        case .manyDeletions:
            "if that is right, run 'grocerydude sync --accept-changes'; to keep the rows, and bring them back everywhere, run 'grocerydude sync rejoin --take merge'"
        case .replaced, .otherGroup:
            "say what the data here mean: 'grocerydude sync rejoin --take merge', or 'edits', or 'container'"
        case .otherContainer(_, let was):
            "name '\(was)' again, or leave that group first with 'grocerydude sync disable'"
        }
    }
}
