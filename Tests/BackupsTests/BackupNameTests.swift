import Foundation
import Remotes
import Testing

@testable import Backups

@Suite("A backup's name")
struct BackupNameTests {
    private static let morning = Date(timeIntervalSince1970: 1_795_251_660.123)
    private static let utc = LocalZone.utc

    private func zone(_ name: String) throws -> LocalZone { try .named(name) }

    @Test("A backup's name is known if a synchronising program added something to it")
    func altered() {
        let names = [
            "[2026-Nov-21] 09.01 AM Stores (1).zip",
            "[2026-Nov-21] 09.01 AM +0100 (2) Changes (nas's conflicted copy 2026-11-21).zip",
            "[2026-Nov-21] 09.01 AM Stores-NAS.zip",
            "[2026-Nov-21] 09.01 AM Stores.sync-conflict-20261121-090100-ABCDEFG.zip",
            "[2026-Nov-21] 09.01 AM Stores.zip (1).age",
        ]
        for name in names { #expect(BackupName.isAltered(name), "\(name)") }
        let others = [
            "[2026-Nov-21] 09.01 AM Stores.zip", "[2026-Nov-21] 09.01 AM Changes.zip.age",
            "my Stores (1).zip", "[2026-Nov-21] 09.01 AM notes.zip",
            "[2026-Nov-21] 09.01 AM Stores (1).txt", "[2026-Nov-21] 13.01 AM Stores (1).zip",
        ]
        for name in others { #expect(!BackupName.isAltered(name), "\(name)") }
    }

    @Test(
        "A backup's name is local time in English",
        arguments: [
            ("2026-11-21T09:01:59.9Z", "UTC", "[2026-Nov-21] 09.01 AM Stores.zip"),
            ("2026-11-21T00:00:00Z", "UTC", "[2026-Nov-21] 12.00 AM Stores.zip"),
            ("2026-11-21T12:30:00Z", "UTC", "[2026-Nov-21] 12.30 PM Stores.zip"),
            ("2026-12-31T23:59:00Z", "Asia/Tokyo", "[2027-Jan-01] 08.59 AM +0900 Stores.zip"),
            ("2026-07-01T12:00:00Z", "America/New_York", "[2026-Jul-01] 08.00 AM -0400 Stores.zip"),
            ("2024-02-29T18:45:00Z", "Asia/Kathmandu", "[2024-Mar-01] 12.30 AM +0545 Stores.zip"),
        ]
    )
    func format(moment: String, zoneName: String, name: String) throws {
        let date = try #require(Timestamp.date(rfc3339: moment))
        let zone = try zone(zoneName)
        #expect(BackupName.make(date, in: zone) == name)
        // Parsing the name gives the same minute in any time zone.
        let told = try #require(BackupName.date(of: name))
        #expect((0..<60).contains(date.timeIntervalSince(told)))
    }

    @Test("The name has a number from the second backup of a minute on")
    func numbers() throws {
        let name = BackupName.make(Self.morning, in: Self.utc, number: 2)
        #expect(name == "[2026-Nov-21] 09.01 AM (2) Stores.zip")
        #expect(BackupName.display(name) == "[2026-Nov-21] 09.01 AM (2)")
        let minute = BackupName.date(of: "[2026-Nov-21] 09.01 AM Stores.zip", in: Self.utc)
        #expect(BackupName.date(of: name, in: Self.utc) == minute)
    }

    @Test(
        "A name of another shape has no time",
        arguments: [
            "Stores.zip", "MyStores.zip", "[2026-Foo-21] 09.01 AM Stores.zip",
            "[2026-Nov-21] 13.01 AM Stores.zip", "[2026-Nov-21] 09.61 AM Stores.zip",
            "[2026-Nov-21] 09.01 AM Stores (conflicted copy).zip",
            "[2026-Nov-41] 09.01 AM Stores.zip",
            "[0000-Nov-21] 09.01 AM Stores.zip", "[2026-Nov-21] 09.01 AM +01 Stores.zip",
            "[2026-Nov-21] 09.01 AM +0160 Stores.zip", "[2026-Nov-21] 09.01 AM 0100 Stores.zip",
        ]
    )
    func otherShapes(name: String) {
        #expect(BackupName.date(of: name, in: Self.utc) == nil)
    }

    @Test("In the repeated hour, our names give the offset; other programs' mean the first")
    func daylightSaving() throws {
        let zone = try zone("Europe/Berlin")
        let first = try #require(Timestamp.date(rfc3339: "2026-10-25T00:30:00Z"))
        let names = [first, first + 3600].map { BackupName.make($0, in: zone) }
        #expect(names == ["+0200", "+0100"].map { "[2026-Oct-25] 02.30 AM \($0) Stores.zip" })
        #expect(names.map { BackupName.date(of: $0, in: Self.utc) } == [first, first + 3600])
        #expect(BackupName.date(of: "[2026-Oct-25] 02.30 AM Stores.zip", in: zone) == first)
        let missing = BackupName.date(of: "[2026-Mar-29] 02.30 AM Stores.zip", in: zone)
        #expect(missing == Timestamp.date(rfc3339: "2026-03-29T01:30:00Z"))
    }

    @Test("The time is local for other programs' archives, and UTC for ours without an offset")
    func foreign() throws {
        let zone = LocalZone(offset: 3600)
        var backup = Backup(
            RemoteFile(name: "[2026-Nov-21] 09.01 AM Stores.zip", size: 1),
            timeZone: zone
        )
        #expect(backup.time == Timestamp.date(rfc3339: "2026-11-21T09:01:00Z"))
        backup.isForeign = true
        #expect(backup.time == Timestamp.date(rfc3339: "2026-11-21T08:01:00Z"))
    }

    @Test("People see the name without its ending, unless nothing would be left")
    func display() {
        #expect(BackupName.display("Old Stores.zip") == "Old")
        #expect(BackupName.display("OldStores.zip") == "Old")
        #expect(BackupName.display("Stores.zip") == "Stores.zip")
    }
}

extension LocalZone {
    /// Returns the rules of a zone that the system knows by this name.
    fileprivate static func named(_ name: String) throws -> LocalZone {
        let zone = try #require(TimeZone(identifier: name))
        return LocalZone { zone.secondsFromGMT(for: $0) }
    }
}

@Suite("A local zone")
struct LocalZoneTests {
    @Test("A local zone knows both moments of a repeated clock time, on either side of UTC")
    func twice() throws {
        for (name, local, first) in [
            ("Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"),
            ("America/New_York", "2026-11-01T01:30:00Z", "2026-11-01T05:30:00Z"),
        ] {
            let zone = try LocalZone.named(name)
            let shown = try #require(Timestamp.date(rfc3339: local))
            let moment = try #require(Timestamp.date(rfc3339: first))
            #expect(zone.moment(shown) == moment, "\(name)")
            #expect(zone.moment(shown, isLast: true) == moment + 3600, "\(name)")
        }
    }

    @Test("A zone's offset has no seconds, since names have none")
    func seconds() throws {
        let zone = LocalZone(offset: 20_745)
        let date = Date(timeIntervalSince1970: 1_795_251_660)
        #expect(zone.offset(at: date) == 20_700)
        #expect(BackupName.date(of: BackupName.make(date, in: zone)) == date)
    }
}

@Suite("A timestamp")
struct TimestampTests {
    private static let morning = Date(timeIntervalSince1970: 1_795_251_660.123)
    private static let utc = LocalZone.utc

    @Test(
        "A timestamp keeps its moment and its offset",
        arguments: ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"]
    )
    func roundTrip(zoneName: String) throws {
        let zone = try LocalZone.named(zoneName)
        for moment in stride(from: 0.25, through: 8_000_000_000, by: 123_456_789.5) {
            let date = Date(timeIntervalSince1970: moment)
            let text = Timestamp.rfc3339(date, in: zone)
            let read = try #require(Timestamp.date(rfc3339: text), "\(text)")
            #expect(abs(read.timeIntervalSince(date)) < 0.002, "\(text)")
        }
        #expect(Timestamp.rfc3339(Self.morning, in: Self.utc) == "2026-11-21T09:01:00.123Z")
        #expect(Timestamp.date(rfc3339: "2026-11-21T10:01:00.1229996+01:00") == Self.morning)
    }

    @Test(
        "Any number of seconds can be written as a timestamp",
        arguments: [1e12, 1e16, 1e30, .infinity]
    )
    func absurd(seconds: Double) throws {
        for zoneName in ["UTC", "Pacific/Kiritimati", "America/St_Johns"] {
            let zone = try LocalZone.named(zoneName)
            let last = Timestamp.rfc3339(Date(timeIntervalSince1970: seconds), in: zone)
            let first = Timestamp.rfc3339(Date(timeIntervalSince1970: -seconds), in: zone)
            #expect(last.hasPrefix("9999-12-31T") && first.hasPrefix("0001-01-01T"))
            #expect(Timestamp.date(rfc3339: last) != nil && Timestamp.date(rfc3339: first) != nil)
        }
    }

    @Test(
        "A text that is not RFC 3339 is refused",
        arguments: [
            "", "2026-11-21", "2026-11-21T09:01:00", "2026-13-21T09:01:00Z", "2026-11-21 09:01:00Z",
            "2026-11-21T09:01:00.Z", "2026-11-21T09:01:00.1234567890Z", "2026-11-21T09:01:00+1:00",
            "2026-11-21T09:01:00Zulu", "2026-11-21T9:01:00Z", "2026-11-21T09:01:00+01",
        ]
    )
    func refusals(text: String) {
        #expect(Timestamp.date(rfc3339: text) == nil)
    }
}
