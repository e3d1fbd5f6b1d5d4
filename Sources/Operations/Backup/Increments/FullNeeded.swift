/// The reason that an increment is given up for a whole backup.
struct FullNeeded: Error {
    var reason: String
}
