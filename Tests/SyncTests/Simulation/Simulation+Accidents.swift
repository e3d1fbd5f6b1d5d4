import Files
import Foundation
import SystemPackage
import TestSupport

@testable import Sync

/// The kinds of accident of one history: those of two kinds together may lose what nobody else has.
enum Accident: CaseIterable {
    /// Disks are cloned, and rolled back.
    case disk
    /// Stores are put back to where they were.
    case store
    /// Sidecars are.
    case sidecar
    /// The container loses files, or all of them.
    case container
}

extension UpkeepRules {
    /// Baselines, bundles and deletions within hours.
    static var busy: UpkeepRules {
        var rules = UpkeepRules()
        rules.files = 4
        rules.deference = 600_000
        rules.bundledFiles = 3
        rules.bundledAge = 600_000
        rules.keeping = 1_800_000
        rules.cardAge = 3_600_000
        return rules
    }
}

extension Simulation {
    /// Saves a device's disk, or lets something happen to it.
    func suffer(_ index: Int) throws {
        guard let accident, isEnabled(index) else { return }
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
        let root = container.appending("a")
        if random.next() % 3 == 0 {
            note("empty the container; \(index) fills it")
            for name in try FileManager.default.contentsOfDirectory(atPath: container.string) {
                try FileManager.default.removeItem(atPath: container.appending(name).string)
            }
            devices[index].options.refills = true
            return
        }
        for folder in ["log", "base"] {
            let path = root.appending(folder)
            let names = try? FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
            for name in names ?? [] where random.next() % 5 == 0 {
                note("lose \(name)")
                try LocalFileSystem().remove(path.appending(name))
            }
        }
    }

    /// Answers the question what the local data mean.
    func answer(_ index: Int) async throws {
        let device = devices[index]
        let takes = Rejoining.allCases
        let take = takes[Int(random.next() % UInt64(takes.count))]
        note("  answer of \(index): \(take)")
        device.options.passed = { _ in }
        device.options.rejoining = take
        defer { device.options.rejoining = nil }
        try await device.sync(at: now)
    }
}
