extension Run {
    /// The commands that are logged, and told to metrics.
    public enum Command: String, Sendable, CaseIterable {
        case backup, restore, check, prune

        /// The commands around which the user's own commands can run.
        public static let hooked: [Command] = [.backup, .restore, .check]
        /// The commands that a schedule can run.
        public static let scheduled: [Command] = [.backup, .check]
    }
}
