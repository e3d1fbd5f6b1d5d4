/// The bytes of a database file that SQLite locks (https://www.sqlite.org/lockingv3.html, os.h).
enum LockBytes {
    /// PENDING, RESERVED and the range of SHARED.
    static let first: Int64 = 0x4000_0000
    static let length: Int64 = 512
    static let shared: Int64 = 0x4000_0002
    static let sharedLength: Int64 = 510
    /// The locks of a shared index (https://www.sqlite.org/walformat.html, 2.2.1) and the one that
    /// every connection has (unix VFS).
    static let index: Int64 = 120
    static let indexLength: Int64 = 9
}
