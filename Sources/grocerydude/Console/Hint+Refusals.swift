internal import Operations
internal import Sync

extension Hint {
    /// Returns the advice where a store cannot sync as it is: that on each reason, and how a map is named if
    /// it helps.
    static func after(_ refusals: [SyncRefusal]) -> String? {
        func hints(_ isOfMap: Bool) -> [String] {
            var hints: [String] = []
            for refusal in refusals where refusal.isSettledByMap == isOfMap {
                if let hint = refusal.hint, !hints.contains(hint) { hints.append(hint) }
            }
            return hints
        }
        var parts = hints(false)
        let ofMap = hints(true).joined(separator: "; ")
        if !ofMap.isEmpty { parts.append("\(ofMap), and name its file with '--map FILE'") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Returns the advice where a store that takes part cannot sync any more as it is.
    static func after(_ refusal: SyncRefusal) -> String? {
        refusal.hint.map { hint in
            refusal.isSettledByMap
                ? "\(hint), and publish it with 'grocerydude sync seed --map FILE'" : hint
        }
    }

    /// Returns the advice where no table syncs.
    static func after(_ leftOut: [LeftOut]) -> String? {
        guard let table = leftOut.first(where: { $0.reason == .noPrimaryKey })?.table else {
            return "see the names of its tables"
        }
        return
            #"say in a map which columns tell rows apart: {"tables": {"\#(table)": {"identity": ["COLUMN"]}}}, and name its file with '--map FILE'"#
    }
}

extension SyncRefusal {
    /// Whether a map can say what is missing.
    fileprivate var isSettledByMap: Bool {
        switch self {
        case .encoding, .coreData: false
        case .collation, .function, .unwritable, .mixedTrigger, .strangeTrigger,
            .undeclaredReference, .referenceToLeftOut, .unknownReference, .identity,
            .ambiguousIdentity, .sameName, .otherReference:
            true
        }
    }
}
