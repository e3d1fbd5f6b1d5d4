import Foundation
import TestSupport
import Testing

@testable import Sync

/// Random histories; `GROCERYDUDE_SIMULATIONS` sets how many, `GROCERYDUDE_SIMULATION_SEED` the first.
///
/// A count without a seed tries other histories each time. With a seed, all that happened is printed.
@Suite("Simulated devices")
struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count =
        environment["GROCERYDUDE_SIMULATIONS"].flatMap { Int($0) }
    private static let first =
        environment["GROCERYDUDE_SIMULATION_SEED"].flatMap { UInt64($0) }
    /// How many are tried where nobody says how many.
    private static let fewCount = 200

    @Test("end up equal, lose no edit unlisted and invent none")
    func histories() async throws {
        // The same histories each time: a change is judged by its own faults.
        let first = Self.first ?? (Self.count == nil ? 1 : .random(in: 0..<1_000_000_000))
        let count = Self.count ?? Self.fewCount
        print("simulations: \(count) from seed \(first)")
        var seeds = (first..<(first + UInt64(count))).makeIterator()
        try await withThrowingTaskGroup { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                guard let seed = seeds.next() else { break }
                group.addTask { try await Self.run(seed) }
            }
            var done = 0
            while try await group.next() != nil {
                done += 1
                if done.isMultiple(of: 500) { print("simulations: \(done) done") }
                guard let seed = seeds.next() else { continue }
                group.addTask { try await Self.run(seed) }
            }
        }
    }

    /// Each showed a fault that is mended.
    private static let formerFailures: [UInt64] = [
        230, 22_938, 24_727, 35_662, 35_723, 35_755, 102_011, 103_258, 204_175,
        400_543, 401_436, 600_066, 701_837, 918_141_675,
    ]

    @Test("end up well in the histories that once failed", arguments: formerFailures)
    func formerly(seed: UInt64) async throws { try await Self.run(seed) }

    /// Runs one history.
    private static func run(_ seed: UInt64) async throws {
        let sandbox = try Sandbox.inMemory()
        let simulation = try Simulation(seed: seed, in: sandbox)
        do {
            try await simulation.run()
        } catch {
            simulation.fail("\(error)")
        }
        withExtendedLifetime(sandbox) {}
        guard !simulation.breaches.isEmpty else { return }
        let trace = count == 1 ? simulation.trace : []
        Issue.record(
            """
            seed \(seed), schema \(simulation.schema.name):
            \((trace + simulation.breaches.prefix(5)).joined(separator: "\n"))
            """
        )
    }
}
