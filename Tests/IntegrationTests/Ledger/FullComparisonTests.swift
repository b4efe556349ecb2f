// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import Testing

/// Now and then everything of a type is compared, and what the backend's stream has missed is repaired.
@Suite(.timeLimit(.minutes(5))) struct FullComparisonTests {
    private static let types = ["CommentsV1", "ProjectsV2", "TagsV1", "TaskTagsV1", "TasksV2"]
    private static let every: Int64 = 600_000

    /// A gateway whose clock the test moves, before a backend that lets changes pass behind tokens.
    private struct Place {
        let clock = ManualClock()
        var options: StackOptions

        init(_ overrides: [String: String] = [:]) {
            options = StackOptions(["ledger.resweep_every": "10m"].merging(overrides) { $1 })
            options.backend.order = .faithful
            options.clock = ManualWallClock(clock)
        }

        func pass() { clock.advance(byMilliseconds: FullComparisonTests.every) }
    }

    /// One pull: what came, and of which type everything was compared.
    private static func pull(
        _ device: inout StackDevice, _ stack: GatewayStack
    ) async throws -> (brief: [String], type: String?) {
        stack.backend.clock.advance(by: 10)
        let (answer, _) = try await device.pull()
        return (try PulledChanges(answer).brief, try await stack.figures(of: answer)["sweep"])
    }

    /// As many pulls as there are types, all in order: what came altogether, and which types were compared.
    private static func round(
        _ device: inout StackDevice, _ stack: GatewayStack, pulls: Int = types.count
    ) async throws -> (brief: [String], types: [String]) {
        var all: (brief: [String], types: [String]) = ([], [])
        for _ in 0..<pulls {
            let (brief, type) = try await pull(&device, stack)
            all.brief += brief
            if let type { all.types.append(type) }
        }
        return (all.brief, all.types.sorted())
    }

    private static func quiesced(_ stack: GatewayStack, _ tokens: [String] = ["device-a"]) async throws -> [StackDevice]
    {
        try await stack.seed(tasks: 6)
        stack.backend.clock.advance(by: 10)
        return try await stack.quietDevices(tokens)
    }

    @Test func `a change that was committed late comes with the full comparison, and nothing else`() async throws {
        let place = Place()
        try await GatewayStack.with(place.options) { stack in
            var device = try await Self.quiesced(stack)[0]
            let late = stack.backend.beginLate(.put("tasks", ["id": "t-0", "name": "late"]))
            stack.backend.clock.advance(by: 10)
            try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": "in time"]))
            #expect(try await Self.pull(&device, stack) == (["updated tasks#t-1"], nil))
            try await late.commit()
            #expect(try await Self.pull(&device, stack) == ([], nil))
            #expect(try await stack.differences(of: device).count == 1)

            place.pass()
            let round = try await Self.round(&device, stack)
            #expect(round.brief == ["updated tasks#t-0"])
            #expect(round.types == Self.types, "one a pull, each once")
            try await stack.expectEqual(device)
            let warnings = stack.repairs
            #expect(warnings.map { "\($0.level)" } == ["warning"])
            #expect(warnings.first?.metadata["repairs"] == "1" && warnings.first?.metadata["types"] == "TasksV2")
            #expect(try await Self.pull(&device, stack) == ([], nil))
        }
    }

    @Test func `a deletion that got lost is repaired, and what is new meanwhile is no repair`() async throws {
        let place = Place()
        try await GatewayStack.with(place.options) { stack in
            var device = try await Self.quiesced(stack)[0]
            try await stack.lose("tasks", ["t-3"])
            #expect(try await Self.pull(&device, stack) == ([], nil))
            place.pass()
            try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": "in time"]), .delete("tasks", "t-2"))
            let round = try await Self.round(&device, stack)
            #expect(round.brief.sorted() == ["deleted tasks#t-2", "deleted tasks#t-3", "updated tasks#t-1"])
            #expect(round.types == Self.types)
            #expect(stack.repairs.map { $0.metadata["repairs"] } == ["1"])
            try await stack.expectEqual(device)
        }
    }

    @Test func `without a time nothing is ever compared again`() async throws {
        let place = Place(["ledger.resweep_every": "0s"])
        try await GatewayStack.with(place.options) { stack in
            var device = try await Self.quiesced(stack)[0]
            try await stack.lose("tasks", ["t-3"])
            place.clock.advance(byMilliseconds: 300 * 86_400_000)
            let round = try await Self.round(&device, stack)
            #expect(round.brief == [] && round.types == [])
        }
    }

    @Test func `a type with more records than resweep_rows is left out`() async throws {
        let place = Place(["ledger.resweep_rows": "5"])
        try await GatewayStack.with(place.options) { stack in
            var device = try await Self.quiesced(stack)[0]
            try await stack.lose("tasks", ["t-3"])
            place.pass()
            var round = try await Self.round(&device, stack)
            #expect(round.brief == [] && round.types == Self.types.filter { $0 != "TasksV2" })
            // One less, and it is compared like the others.
            try await stack.backend.edit(.delete("tasks", "t-1"))
            round = try await Self.round(&device, stack)
            #expect(round.brief.sorted() == ["deleted tasks#t-1", "deleted tasks#t-3"])
            #expect(round.types == ["TasksV2"])
        }
    }

    @Test func `no more than resweep_parallel pulls compare at a time, and the others take their turn`() async throws {
        let place = Place(["ledger.resweep_parallel": "1"])
        try await GatewayStack.with(place.options) { stack in
            var devices = try await Self.quiesced(stack, ["device-a", "device-b"])
            place.pass()
            let (latch, arrivals) = (Latch(), Latch())
            await arrivals.open()
            stack.backend.streamHook = { point in
                guard point == StreamPoint(request: "ProjectsV2", part: .deletes) else { return }
                await arrivals.pass()
                // The first stream brings what is new, the second is the comparison.
                if await arrivals.arrivals == 2 { await latch.pass() }
            }
            let slow = devices[0]
            async let first = {
                var device = slow
                let pulled = try await Self.pull(&device, stack)
                return (device, pulled.type)
            }()
            try await eventually { await latch.arrivals == 1 }
            #expect(try await Self.pull(&devices[1], stack) == ([], nil))
            await latch.open()
            let (device, type) = try await first
            devices[0] = device
            #expect(type == "CommentsV1")
            for place in [0, 1] {
                let left = place == 0 ? Self.types.filter { $0 != "CommentsV1" } : Self.types
                #expect(try await Self.round(&devices[place], stack, pulls: 6).types == left)
            }
        }
    }

    /// Whatever stops a comparison: what is new comes all the same, and the type is tried again later.
    private static func expectGivenUp(
        _ stack: GatewayStack, _ place: Place, because code: String, _ fault: (DemoBackend) -> Void
    ) async throws {
        var device = try await quiesced(stack)[0]
        try await stack.lose("comments", ["c-0"])
        place.pass()
        try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": "new"]))
        fault(stack.backend)
        #expect(try await pull(&device, stack) == (["updated tasks#t-1"], nil))
        let line = stack.logged("ledger.sweep_failed").first
        #expect(line?.metadata["type"] == "CommentsV1" && line?.metadata["because"] == "\(code)")
        let replica = try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10).first
        #expect(replica?.lastResult.contains("comparing CommentsV1 failed (\(code))") == true)

        // The others take their turn meanwhile.
        let others = try await round(&device, stack)
        #expect(others.brief == [] && others.types == types.filter { $0 != "CommentsV1" })
        place.clock.advance(byMilliseconds: 3_600_000)
        #expect(try await round(&device, stack, pulls: 1) == (["deleted comments#c-0"], ["CommentsV1"]))
        try await stack.expectEqual(device)
    }

    @Test func `a comparison that breaks off is given up and tried again`() async throws {
        let place = Place(["backend.resume_attempts": "0"])
        try await GatewayStack.with(place.options) { stack in
            try await Self.expectGivenUp(stack, place, because: "backend.stream_broken") { backend in
                backend.inject(.stream { _ in })
                backend.inject(.stream { $0.cutAfterLines = 1 })
            }
        }
    }

    @Test func `a comparison whose stream breaks before its first line begins anew, and nothing is taken for gone`()
        async throws
    {
        let place = Place(["backend.resume_backoff": "10ms"])
        try await GatewayStack.with(place.options) { stack in
            var device = try await Self.quiesced(stack)[0]
            place.pass()
            for number in 0..<Self.types.count {
                // The plain stream brings a token of the very type that is compared after it.
                try await stack.backend.edit(
                    .put("tasks", ["id": "t-1", "name": .string("new \(number)")]),
                    .put("tags", ["id": "tag", "label": .string("new \(number)")]),
                    .put("projects", ["id": "p-0", "name": .string("new \(number)")]))
                stack.backend.inject(.stream { _ in })
                stack.backend.inject(DemoFault("POST", "/sync/stream", action: .status(503)))
                #expect(try await Self.pull(&device, stack).brief.allSatisfy { !$0.hasPrefix("deleted") })
                stack.backend.clearFaults()
                try await stack.expectEqual(device)
            }
            #expect(stack.logged("ledger.sweep_failed").isEmpty)
        }
    }

    @Test func `a comparison that the backend refuses is given up and tried again`() async throws {
        let place = Place()
        try await GatewayStack.with(place.options) { stack in
            try await Self.expectGivenUp(stack, place, because: "backend.refused") { backend in
                backend.inject(.stream { _ in })
                backend.inject(DemoFault("POST", "/sync/stream", action: .status(400)))
            }
        }
    }

    @Test func `types with more rows than a pull may have never stop what is new`() async throws {
        let place = Place()
        try await GatewayStack.withBackend(place.options) { backend, directory in
            var device = try await GatewayStack.with(place.options, backend: backend, directory: directory) { stack in
                try await Self.quiesced(stack)[0]
            }
            var options = place.options
            options.overrides["pull.max_rows"] = "3"
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                device.http = stack.http
                place.pass()
                for number in 0..<8 {
                    try await backend.edit(.put("tasks", ["id": "t-1", "name": .string("new \(number)")]))
                    #expect(try await Self.pull(&device, stack).brief == ["updated tasks#t-1"])
                }
                let failed = stack.logged("ledger.sweep_failed")
                #expect(failed.contains { $0.metadata["type"] == "TasksV2" })
                #expect(failed.allSatisfy { $0.metadata["because"] == "pull.too_many_rows" })
                try await stack.expectEqual(device)
            }
        }
    }
}
