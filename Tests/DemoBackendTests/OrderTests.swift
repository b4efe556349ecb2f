// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import NIOConcurrencyHelpers
import Testing

@Suite struct OrderTests {
    static func configuration(_ order: DemoConfiguration.Order) -> DemoConfiguration {
        var configuration = DemoConfiguration()
        configuration.order = order
        return configuration
    }

    @Test func `in faithful order a late commit is passed over for ever`() async throws {
        try await DemoBackend.withRunning(Self.configuration(.faithful)) { backend in
            backend.clock.stand(at: 1_800_000_000_000)
            let client = try await TestClient(backend)
            let late = backend.beginLate(.put("tags", ["id": "late"]))
            backend.clock.advance(by: 2)
            try await backend.edit(.put("tags", ["id": "early"]))
            backend.clock.advance(by: 2)
            #expect(try await client.sync("TagsV1").map(\.id) == ["early"])
            try await late.commit()
            backend.clock.advance(by: 2)
            #expect(try await client.sync("TagsV1").isEmpty)
            #expect(try await backend.records()["tags"]?["late"] != nil)
        }
    }

    @Test func `in commit order a late commit arrives`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let late = backend.beginLate(.put("tags", ["id": "late"]))
            try await backend.edit(.put("tags", ["id": "early"]))
            #expect(try await client.sync("TagsV1").map(\.id) == ["early"])
            try await late.commit()
            #expect(try await client.sync("TagsV1").map(\.id) == ["late"])
        }
    }

    @Test func `a late delete is passed over too`() async throws {
        try await DemoBackend.withRunning(Self.configuration(.faithful)) { backend in
            backend.clock.stand(at: 1_800_000_000_000)
            let client = try await TestClient(backend)
            try await backend.edit(.put("tags", ["id": "a"]), .put("tags", ["id": "b"]))
            let late = backend.beginLate(.delete("tags", "a"))
            backend.clock.advance(by: 2)
            try await backend.edit(.delete("tags", "b"))
            backend.clock.advance(by: 2)
            try await client.sync("TagsV1")
            try await late.commit()
            #expect(try await client.sync("TagsV1").isEmpty)
        }
    }

    @Test func `in faithful order the last millisecond waits for the next stream`() async throws {
        try await DemoBackend.withRunning(Self.configuration(.faithful)) { backend in
            backend.clock.stand(at: 1_800_000_000_000)
            let client = try await TestClient(backend)
            try await backend.edit(.put("tags", ["id": "a"]))
            #expect(try await client.sync("TagsV1").isEmpty)
            backend.clock.advance(by: 2)
            #expect(try await client.sync("TagsV1").map(\.id) == ["a"])
        }
    }

    @Test func `a stream is no snapshot, and what changes meanwhile is in the next one`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]),
                .put("tasks", ["id": "u", "projectId": "p"]))
            let points = NIOLockedValueBox<[StreamPoint]>([])
            backend.streamHook = { point in
                points.withLockedValue { $0.append(point) }
                if point == StreamPoint(request: "TasksV2", part: .upserts) {
                    try await backend.edit(.put("tasks", ["id": "t", "name": "changed meanwhile"]))
                }
            }
            let client = try await TestClient(backend)
            let first = try await client.sync("ProjectsV2", "TasksV2")
            #expect(first.map(\.id) == ["p", "u"])
            #expect(
                points.withLockedValue { $0.map { "\($0.request) \($0.part)" } } == [
                    "ProjectsV2 deletes", "ProjectsV2 upserts", "TasksV2 deletes", "TasksV2 backfill",
                    "TasksV2 upserts",
                ])
            backend.streamHook = nil
            #expect(try await client.sync("ProjectsV2", "TasksV2").map(\.id) == ["t"])
        }
    }

    @Test func `ids in commit order rise even while the clock stands or goes back`() async throws {
        try await DemoBackend.withRunning { backend in
            backend.clock.stand(at: 1_800_000_000_000)
            let client = try await TestClient(backend)
            for number in 0..<20 {
                if number == 10 { backend.clock.advance(by: -5000) }
                try await backend.edit(.put("tags", ["id": .string("g\(number)")]))
            }
            let lines = try await client.stream("TagsV1").dropLast()
            #expect(lines.map(\.id) == (0..<20).map { "g\($0)" })
        }
    }
}
