// The end of the last run, for those who only look.
extension Sidecar {
    /// Remembers how a run ended.
    ///
    /// - Parameters:
    ///   - decision: why nothing is exchanged until a person decides; `nil` if nothing is in the way.
    ///   - isAway: whether the container was not there.
    /// - Throws: `SidecarError`.
    public func note(_ decision: SyncDecision?, isAway: Bool) throws {
        try write { access in
            try access.set("decision", decision?.code)
            try access.set("decision_text", decision?.description)
            try access.set("away", isAway ? 1 : 0)
        }
    }
}
