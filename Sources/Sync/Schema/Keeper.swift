internal import Files
internal import Stores

/// A reference of a table that keeps the rows that it names from being deleted.
struct Keeper: Sendable {
    let table: TableSchema
    let columns: [Int]
    /// The name of the table that it refers to, in ASCII lower case.
    let parent: ExactString
    let parentColumns: [Int]
}
