internal import Changes
internal import Foundation
internal import GRDB

// Single values.
extension SidecarAccess {
    func integer(_ key: String) throws -> Int64? {
        try row("SELECT v FROM meta WHERE k = ?", [key]).flatMap { $0[0] }
    }

    func text(_ key: String) throws -> String? {
        try row("SELECT v FROM meta WHERE k = ?", [key]).flatMap { $0[0] }
    }

    func bytes(_ key: String) throws -> [UInt8]? {
        try row("SELECT v FROM meta WHERE k = ?", [key]).flatMap { (row: Row) -> [UInt8]? in
            row.hasNull(atIndex: 0) ? nil : row.bytes(0)
        }
    }

    func set(_ key: String, _ value: (any DatabaseValueConvertible)?) throws {
        try run("INSERT OR REPLACE INTO meta (k, v) VALUES (?, ?)", [key, value])
    }

    func set(_ key: String, bytes: [UInt8]) throws { try set(key, Data(bytes)) }
}

extension Row {
    fileprivate func hasNull(atIndex index: Int) -> Bool {
        let value: DatabaseValue = self[index]
        return value.isNull
    }
}
