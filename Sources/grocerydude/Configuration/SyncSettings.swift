internal import Operations
internal import SystemPackage

/// The settings of sync.
struct SyncSettings {
    /// The folder that devices share, in the form of a remote folder; `nil` for the one that each store has.
    var container: String?
    /// The group's name; `nil` for one made of the store's.
    var group: String?
    /// The file with the group's map.
    var map: FilePath?
    /// Whether a store is written that an application has open; `nil` for any but those of Core Data.
    var writesWhileOpen: Bool?
    /// When `schedule install` has stores exchanged.
    var schedule: Schedule?
    /// How old the last exchange may be.
    var maxAge: Duration?
    /// Whether anything is exchanged.
    var isEnabled = true
    /// How long each may take is said with the hooks of sync.
    var commands = ImportCommands()
}
