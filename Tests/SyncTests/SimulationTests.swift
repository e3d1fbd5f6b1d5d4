import Foundation
import TestSupport
import Testing

@testable import Sync

/// Random histories; `GROCERYDUDE_SIMULATIONS` sets how many, `GROCERYDUDE_SIMULATION_SEED` the first.
///
/// A count without a seed tries other histories each time.
@Suite("Simulated devices")
struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count =
        environment["GROCERYDUDE_SIMULATIONS"].flatMap { Int($0) }
    private static let first =
        environment["GROCERYDUDE_SIMULATION_SEED"].flatMap { UInt64($0) }

    @Test("end up equal, lose no edit unlisted and invent none")
    func histories() async throws {
        // The same histories each time: a change is judged by its own faults.
        let first = Self.first ?? (Self.count == nil ? 1 : .random(in: 0..<1_000_000_000))
        let count = Self.count ?? 30
        print("simulations: \(count) from seed \(first)")
        for seed in first..<(first + UInt64(count)) {
            let sandbox = try Sandbox()
            let simulation = try Simulation(seed: seed, in: sandbox)
            do {
                try await simulation.run()
            } catch {
                simulation.fail("\(error)")
            }
            guard !simulation.breaches.isEmpty else { continue }
            let trace = Self.first == nil ? [] : simulation.trace
            Issue.record(
                """
                seed \(seed), schema \(simulation.schema.name):
                \((trace + simulation.breaches.prefix(5)).joined(separator: "\n"))
                """
            )
        }
    }
}
