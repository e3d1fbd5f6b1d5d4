internal import CSQLite

/// The SQLite that the program runs with.
public enum SQLiteLibrary {
    /// The version, such as "3.40.1" (https://www.sqlite.org/c3ref/libversion.html).
    public static var version: String { String(cString: sqlite3_libversion()) }
}
