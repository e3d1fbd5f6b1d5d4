import Files
import Foundation
import SystemPackage
import TestSupport

@testable import Sync

/// The kinds of accident of one history, which has one or two.
enum Accident: CaseIterable {
    /// Disks are cloned, and rolled back.
    case disk
    /// Stores are put back to where they were.
    case store
    /// Sidecars are.
    case sidecar
    /// The container loses files, or all of them, or a program makes two folders of one.
    case container
}

extension UpkeepRules {
    static let busyBlobRound: Int64 = 1_800_000

    /// Baselines, bundles and deletions within hours.
    static func busy(_ random: inout Pseudorandom) -> UpkeepRules {
        var rules = UpkeepRules()
        rules.files = Int(random.next() % 6)
        rules.deference = 600_000
        rules.bundledFiles = 1 + Int(random.next() % 4)
        rules.bundledAge = 600_000
        rules.keeping = 1_800_000
        rules.blobRound = busyBlobRound
        rules.blobKeeping = 3_600_000
        rules.cardAge = 3_600_000
        return rules
    }
}

extension Simulation {
    /// Saves a device's disk, or lets something happen to it.
    func suffer(_ index: Int) throws {
        guard isEnabled(index) else { return }
        let accident = accidents[Int(random.next() % UInt64(accidents.count))]
        if accident == .container { return try damageContainer(index) }
        let device = devices[index]
        guard let disk = disks[index] else {
            note("save \(index)")
            disks[index] = try device.save()
            return
        }
        disks[index] = nil
        doubt(index)
        forgetful.insert(device.name)
        switch accident {
        case .disk where random.next() % 2 == 0 && devices.count < 5:
            let clone = try addDevice()
            note("clone \(index) as \(clone)")
            try devices[clone].clone(device.save())
            forgetful.insert(devices[clone].name)
            join(clone)
        case .disk:
            note("roll back \(index)")
            try device.rollBack(to: disk)
        case .sidecar:
            note("roll back the sidecar of \(index)")
            try device.rollBack(to: disk, store: false)
        case .store:
            note("put back the store of \(index)")
            try device.putBackStore(disk)
        case .container: break
        }
    }

    private func damageContainer(_ index: Int) throws {
        switch random.next() % 4 {
        case 0:
            note("empty the container; \(index) fills it")
            for name in try names(in: container) {
                try FileManager.default.removeItem(atPath: container.appending(name).string)
            }
            devices[index].options.refills = true
            wasEmptied = true
        case 1:
            for folder in ["log", "base", "info"] { try split(folder) }
        case 2:
            for folder in ["log", "base", "info"] { try merge(folder) }
        default:
            for folder in ["log", "base"] {
                let path = container.appending("a").appending(folder)
                for name in try names(in: path) where random.next() % 5 == 0 {
                    note("lose \(name)")
                    try LocalFileSystem().remove(path.appending(name))
                }
            }
        }
    }

    /// Moves some files of a folder to another one, which nobody looks into.
    private func split(_ folder: String) throws {
        let path = container.appending("a").appending(folder)
        let other = container.appending("a").appending("\(folder) 2")
        try LocalFileSystem().createDirectories(other)
        for name in try names(in: path) where random.next() % 4 == 0 {
            note("move \(name) to '\(folder) 2'")
            _ = rename(path.appending(name).string, other.appending(name).string)
        }
    }

    private func merge(_ folder: String) throws {
        let path = container.appending("a").appending(folder)
        let other = container.appending("a").appending("\(folder) 2")
        for name in try names(in: other) {
            note("move \(name) back to '\(folder)'")
            _ = rename(other.appending(name).string, path.appending(name).string)
        }
    }

    private func names(in directory: FilePath) throws -> [String] {
        guard try FileInfo.ifPresent(directory) != nil else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted()
    }

    /// Answers the question what the local data mean.
    func answer(_ index: Int, _ decision: SyncDecision) async throws {
        let device = devices[index]
        let takes = Rejoining.allCases
        var take = takes[Int(random.next() % UInt64(takes.count))]
        // Two that began a year apart are one group only if a person says so.
        if case .otherGroup = decision { take = .merge }
        note("  answer of \(index): \(take)")
        device.options.passed = { _ in }
        device.options.rejoining = take
        defer { device.options.rejoining = nil }
        try await device.sync(at: now)
    }
}

// Time.
extension Simulation {
    /// Lets something happen to a device's clock.
    func disturbClock(_ index: Int) {
        let device = devices[index]
        switch random.next() % 4 {
        case 0:
            note("the clock of \(index) stops")
            device.stopped = now + device.skew
        case 1:
            note("the clock of \(index) is set back")
            device.skew -= Double(random.next() % 4000)
        case 2:
            note("the clock of \(index) is set ahead")
            device.skew += Double(random.next() % 4000)
        default: device.stopped = nil
        }
    }

    /// Whether a device is away; a year passes at times while it is.
    func isAbsent(_ index: Int) -> Bool {
        guard let rest = absences[index] else { return false }
        absences[index] = rest > 1 ? rest - 1 : nil
        return true
    }

    func leave(_ index: Int) {
        note("\(index) is away")
        absences[index] = 3 + Int(random.next() % 6)
        if random.next() % 3 == 0 {
            note("a year passes")
            pass(365 * 86_400)
        }
    }
}
