// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import MemoryState
import SyncModel

/// Makes schedules from seeds, runs them and shrinks the ones that fail.
package struct SimulationCampaign: Sendable {
    /// True if older copies of the state may be restored.
    package var allowsRestores = true
    /// True if the backend's stream may miss changes.
    package var allowsLoss = true
    /// True if several gateways share the state in every schedule, and are paused.
    package var sharesState = false
    /// Makes the witness of a state that a world begins with, or goes on with; nil for none.
    package typealias Witness = @Sendable (MemoryBytes) -> MemoryBytes.Witness

    /// Makes the witness of each world's state; one sees a single world at a time.
    package var witness: Witness?
    /// The longest schedule.
    package var length = 100

    /// The most shorter schedules that are tried of one that fails.
    package var maximumTries = 1_500

    /// Creates a campaign in which everything may happen.
    package init() {}

    /// A seed that fails: the shortest schedule that still does, and what happened in it.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// The seed.
        package var seed: UInt64
        /// The failure, in a sentence.
        package var sentence: String
        /// The world.
        package var setup: WorldSetup
        /// The shrunk schedule.
        package var ops: [SimulationOp]
        /// The events of the schedule.
        package var trace: [String]

        /// The text that is needed to understand and to replay the failure.
        package var description: String {
            """
            seed \(seed): \(sentence)
            replay: SWIFT_DETERMINISTIC_HASHING=1 RIND_TEST_SEED=\(seed) swift test --filter SimulationCampaignTests
            \(setup)
            \(ops.count) operations left after shrinking:
            \(ops.map { "  \($0)" }.joined(separator: "\n"))
            trace:
            \(trace.map { "  \($0)" }.joined(separator: "\n"))
            """
        }
    }

    /// Runs one seed; says how often what happened, and how many jobs ran; throws ``Failure``.
    ///
    /// A schedule that fails is made as short as it can be.
    package func run(seed: UInt64) async throws -> (counts: [String: Int], steps: Int) {
        let (setup, ops) = draw(seed)
        let first = try World(setup, seed: seed, witness: witness)
        guard try await Self.play(ops, in: first) != nil else { return (first.counts, first.steps) }
        let shrunk = try await shrink(ops) { try await Self.play($0, in: World(setup, seed: seed)) != nil }
        let world = try World(setup, seed: seed, isTracing: true)
        let sentence = try await Self.play(shrunk, in: world)
        throw Failure(seed: seed, sentence: sentence ?? "not again", setup: setup, ops: shrunk, trace: world.trace)
    }

    private func draw(_ seed: UInt64) -> (WorldSetup, [SimulationOp]) {
        var random = SeededGenerator(seed: seed &* 0xd134_2543_de82_ef95 &+ 1)
        var setup = Self.setup(&random)
        var ops = (0..<Int.random(in: 15...length, using: &random)).flatMap { _ in
            let op = op(&random)
            // There has to be something to push.
            guard case .push(let device, _, _) = op else { return [op] }
            return [edit(of: device, &random), op]
        }
        if Int.random(in: 0..<8, using: &random) == 0 { Self.putAway(&ops, &random) }
        if Int.random(in: 0..<3, using: &random) > 0 { Self.update(&ops, &random) }
        if Int.random(in: 0..<12, using: &random) == 0 { Self.compare(&ops, &random) }
        setup.checksConflicts = Bool.random(using: &random)
        setup.cascades = Int.random(in: 0..<3, using: &random) == 0
        setup.rejected = RejectedRecordRule.allCases.randomElement(using: &random) ?? .fail
        setup.gateways = Int.random(in: 0..<4, using: &random) == 0 ? 2 : 1
        if sharesState {
            setup.gateways = 2
            for _ in 0..<Int.random(in: 0...3, using: &random) { Self.pause(&ops, &random) }
        }
        setup.makesIDs = setup.pushStyle == .calls && setup.hasLedger && Bool.random(using: &random)
        setup.commitsInGroups = Bool.random(using: &random)
        return (setup, ops)
    }

    /// Plays a schedule; returns the failure, nil if there is none.
    private static func play(_ ops: [SimulationOp], in world: World) async throws -> String? {
        for op in ops {
            try await world.perform(op)
            if let complaint = world.complaints.first { return complaint }
        }
        return try await world.quiesce()
    }

    /// Removes the operations that the failure does not need: halves first, then single ones.
    private func shrink(
        _ ops: [SimulationOp], while fails: ([SimulationOp]) async throws -> Bool
    ) async throws -> [SimulationOp] {
        var ops = ops
        var size = max(ops.count / 2, 1)
        var tries = 0
        while tries < maximumTries {
            var removedAny = false
            var start = 0
            while start < ops.count, tries < maximumTries {
                var shorter = ops
                shorter.removeSubrange(start..<min(start + size, ops.count))
                tries += 1
                if try await fails(shorter) {
                    ops = shorter
                    removedAny = true
                } else {
                    start += size
                }
            }
            if size == 1, !removedAny { break }
            size = max(size / 2, 1)
        }
        return ops
    }
}

// Drawing schedules.
extension SimulationCampaign {
    private static func setup(_ random: inout SeededGenerator) -> WorldSetup {
        var setup = WorldSetup()
        setup.checkpoints = Int.random(in: 0..<6, using: &random) == 0 ? .request : .server
        setup.devices = [1, 2, 2, 3].randomElement(using: &random) ?? 2
        setup.hasOwnSessions = Int.random(in: 0..<3, using: &random) == 0
        setup.keepsAnswers = Bool.random(using: &random)
        setup.hasFiles = Bool.random(using: &random)
        setup.hasLedger = Int.random(in: 0..<8, using: &random) > 0
        setup.pushStyle = Int.random(in: 0..<3, using: &random) == 0 ? .calls : .stream
        setup.pushTime = [.now, .now, .none, .before].randomElement(using: &random) ?? .now
        setup.manners = (0..<setup.devices).map { _ in
            SimulatedDevice.Manners.allCases.randomElement(using: &random) ?? .version
        }
        setup.namesAllTables = Bool.random(using: &random)
        return setup
    }

    private func op(_ random: inout SeededGenerator) -> SimulationOp {
        let number = Int.random(in: 0..<60, using: &random)
        let value = Int.random(in: 2..<90, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case ..<24: return .step(pull: number, count: Int.random(in: 1...30, using: &random))
        case ..<32: return .sync(device: number)
        case ..<43: return .pull(device: number)
        case ..<62: return .write(Self.write(&random), number, value)
        case ..<70: return edit(of: number, &random)
        case ..<79: return .push(device: number, Self.outcome(&random), isStepped: Bool.random(using: &random))
        case ..<82: return .stepPush(number, count: Int.random(in: 1...6, using: &random))
        case ..<84: return .abandon(pull: number)
        case ..<86: return .loseRequest(pull: number)
        case ..<88: return .loseAnswer(pull: number)
        case ..<91: return .cut(pull: number)
        case ..<93: return .crash
        case ..<94: return .wait(milliseconds: [5, 3_000, 90_000, 4_000_000].randomElement(using: &random) ?? 5)
        case ..<97: return mishap(&random, number: number, value: value)
        default: return rare(&random, number)
        }
    }

    private func edit(of device: Int, _ random: inout SeededGenerator) -> SimulationOp {
        let edit = SimulationOp.Edit.allCases.randomElement(using: &random) ?? .edit
        return .edit(
            device: device, edit, Int.random(in: 2..<90, using: &random), Int.random(in: 100..<1_000, using: &random))
    }

    /// Adds a device that comes back from a backup after many changes and some time.
    private static func putAway(_ ops: inout [SimulationOp], _ random: inout SeededGenerator) {
        let device = Int.random(in: 0..<6, using: &random)
        let begin = Int.random(in: 0..<ops.count / 3, using: &random)
        let days = [0, 8, 40].randomElement(using: &random) ?? 0
        ops.insert(.backup(device: device), at: begin)
        // The ledger has to be compacted in between.
        for number in 0..<Int.random(in: 0..<8, using: &random) {
            ops += [.write(write(&random), number, days + number), .sync(device: device)]
        }
        ops += [.days(days), .restore(device: device, withApp: days == 8), .sync(device: device)]
    }

    /// Adds a device whose app is updated, with a backup from before that may come back.
    private static func update(_ ops: inout [SimulationOp], _ random: inout SeededGenerator) {
        let device = Int.random(in: 0..<6, using: &random)
        let index = Int.random(in: 0..<ops.count, using: &random)
        ops.insert(.updateApp(device: device), at: index)
        guard Int.random(in: 0..<4, using: &random) == 0 else { return }
        let back = Int.random(in: index...ops.count, using: &random)
        ops.insert(.restore(device: device, withApp: Bool.random(using: &random)), at: back)
        ops.insert(.backup(device: device), at: Int.random(in: 0...index, using: &random))
    }

    /// Adds a comparison that fails, or one with a backend that was restored empty.
    private static func compare(_ ops: inout [SimulationOp], _ random: inout SeededGenerator) {
        let device = Int.random(in: 0..<6, using: &random)
        ops.append(.sync(device: device))
        if Bool.random(using: &random) {
            for number in 0..<4 { ops.append(.write(.newTask, 0, 10 + number)) }
            ops += [
                .sync(device: device), .mishap(.vanish, 0, 0), .sync(device: device),
                .sync(device: device),
            ]
        } else {
            let step = SimulationOp.step(pull: 0, count: Int.random(in: 20...60, using: &random))
            ops += [.reconfigure, .pull(device: device), step, .loseAnswer(pull: 0), step]
        }
    }

    /// Adds a gateway that stands still while the other one works, often for longer than its lease lasts.
    private static func pause(_ ops: inout [SimulationOp], _ random: inout SeededGenerator) {
        let begin = Int.random(in: 0..<ops.count, using: &random)
        let end = Int.random(in: begin...min(begin + 12, ops.count), using: &random)
        ops.insert(.goOn, at: end)
        let pauses: [Int64] = [0, 10_000, 31_000, 50_000, 100_000]
        let pause = pauses.randomElement(using: &random) ?? 0
        if pause > 0 { ops.insert(.wait(milliseconds: pause), at: Int.random(in: begin...end, using: &random)) }
        ops.insert(.pause(Int.random(in: 0..<2, using: &random)), at: begin)
    }

    private static func outcome(_ random: inout SeededGenerator) -> WorldPushOutcome {
        if Bool.random(using: &random) { return .answered }
        return WorldPushOutcome.allCases.randomElement(using: &random) ?? .answered
    }

    private static func write(_ random: inout SeededGenerator) -> SimulationOp.Write {
        // Edits of tasks are what users do most.
        if Int.random(in: 0..<4, using: &random) == 0 { return .editTask }
        return SimulationOp.Write.allCases.randomElement(using: &random) ?? .editTask
    }

    private func mishap(_ random: inout SeededGenerator, number: Int, value: Int) -> SimulationOp {
        var mishap = SimulationOp.Mishap.allCases.randomElement(using: &random) ?? .reset
        if mishap == .arriveLate || mishap == .repair, value % 2 == 0 { mishap = .vanish }
        // What is only complete after a full comparison must not hide the rest in every schedule.
        if !allowsLoss, mishap == .beginLate || mishap == .loseTombstone {
            return .mishap(.reset, number, value)
        }
        return .mishap(mishap, number, value)
    }

    private func rare(_ random: inout SeededGenerator, _ number: Int) -> SimulationOp {
        switch Int.random(in: 0..<23, using: &random) {
        case ..<4: return .days([1, 8, 31, 40].randomElement(using: &random) ?? 1)
        case ..<7: return .backup(device: number)
        case ..<10: return .restore(device: number, withApp: number % 4 == 3)
        case 10: return .clone(device: number)
        case 11, 12: return .logInAnew(device: number)
        case 13: return .updateApp(device: number)
        case 14: return allowsRestores ? .saveState : .crash
        case 15: return allowsRestores ? .restoreState : .crash
        case 16, 18: return .fill(number % 4)
        case 17: return .accept(number)
        case 19: return number % 2 == 0 ? .resync(number) : .retry
        case 20: return .forget(number)
        case 21: return .distrust(number)
        default: return .reconfigure
        }
    }
}
