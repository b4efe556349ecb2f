// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import JSONBytes
import Testing

/// Apps that have synced with another server, and whose data the team has moved to the backend behind the gateway.
@Suite struct MovingTests {
    /// What the other server's times are.
    enum OldClock: String, CaseIterable, Sendable {
        case milliseconds, seconds, counter, nanoseconds

        func time(_ sync: Int) -> Int64 {
            switch self {
            case .milliseconds: 1_690_000_000_000 + Int64(sync) * 86_400_000
            case .seconds: 1_690_000_000 + Int64(sync) * 86_400
            case .counter: 1_000 + Int64(sync)
            case .nanoseconds: 1_690_000_000_000_000_000 + Int64(sync) * 1_000_000
            }
        }
    }

    @Test(arguments: zip(OldClock.allCases, [ClientRequestShape.docs, .docsOld, .camel, .postPull]))
    func `a device with thirty syncs behind it moves over without being wiped`(
        clock: OldClock, shape: ClientRequestShape
    ) async throws {
        try await GatewayStack.with { stack in
            var phone = try await Self.movedDevice(stack, clock: clock, shape: shape)
            let before = phone.model.contents
            let (answer, applied) = try await phone.pull()
            let pulled = try PulledAnswer(answer)
            // Nothing in created: that would bring back what waits to be pushed as deleted.
            #expect(pulled.tables.allSatisfy { pulled.ids($0, "created").isEmpty })
            #expect(applied.isApplied && phone.model.lastPulledAt == Double(pulled.timestamp))
            // What the user has done and not pushed yet is still there, and so is everything that exists.
            #expect(phone.model.record("tags", "unsynced")?.status == .created)
            #expect(phone.model.record("tasks", "task-3")?.values["name"] == "edited offline")
            #expect(phone.model.record("tasks", "task-4")?.status == .deleted)
            #expect(
                Set(before["projects", default: [:]].keys).isSubset(
                    of: phone.model.contents["projects"]?.keys ?? [:].keys))
            try await phone.push()
            try await Self.expectMoved(&phone, stack)
        }
    }

    @Test func `an app that hands the answer on is replaced, and its unsynced records survive`() async throws {
        try await GatewayStack.with(StackOptions(["pull.unknown_cursor": "replacement"])) { stack in
            var phone = try await Self.movedDevice(stack, clock: .milliseconds, shape: .docs)
            phone.model.options.passesWholeAnswer = true
            // The old server deleted it and its backend has no trace of it: only a replacement can know.
            phone.model.database.tables["tags", default: ClientRows()]["orphan"] = ClientRecord(
                id: "orphan", status: .synced, values: ["label": "left over"])
            let answer = try await phone.sync().pull
            #expect(answer.json?["experimentalStrategy"]?.string == "replacement")
            #expect(phone.model.record("tags", "orphan") == nil)
            try await Self.expectMoved(&phone, stack)
            // Only once.
            #expect(try await phone.pull().answer.json?["experimentalStrategy"] == nil)
        }
    }

    @Test func `an app that doesn't hand the answer on loses nothing to a replacement`() async throws {
        try await GatewayStack.with(StackOptions(["pull.unknown_cursor": "replacement"])) { stack in
            var phone = try await Self.movedDevice(stack, clock: .counter, shape: .camel)
            try await phone.sync()
            // A replacement names no deletions, so this app keeps what it should have replaced: the wrong setting for
            // it.
            #expect(try await stack.differences(of: phone) == ["tasks#task-6 is on the device only"])
            try phone.model.purge("tasks", "task-6")
            try await Self.expectMoved(&phone, stack)
        }
    }

    @Test func `an app that is refused keeps everything, and starts anew when its user signs in again`() async throws {
        try await GatewayStack.with(StackOptions(["pull.unknown_cursor": "refuse"])) { stack in
            var phone = try await Self.movedDevice(stack, clock: .milliseconds, shape: .docs)
            let (before, snapshot) = (phone.model.database, try await stack.snapshot())
            let failure = await #expect(throws: StackDevice.Failure.self) { try await phone.sync() }
            guard case .pull(let answer)? = failure else { return }
            #expect(answer.status == 409 && answer.errorCode == "pull.unknown_cursor", "\(answer)")
            #expect(answer.text.hasPrefix("This device can no longer sync."))
            #expect(phone.model.database == before)
            #expect(try await stack.snapshot() == snapshot)
            phone.model.reset()
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
        }
    }

    /// The documented limit of adopting: what the backend has forgotten cannot be told to the device.
    @Test func `an adopted device keeps a record that the backend knows nothing of`() async throws {
        try await GatewayStack.with { stack in
            var phone = try await Self.movedDevice(stack, clock: .milliseconds, shape: .docs)
            phone.model.database.tables["tags", default: ClientRows()]["orphan"] = ClientRecord(
                id: "orphan", status: .synced, values: ["label": "left over"])
            try await phone.sync()
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == ["tags#orphan is on the device only"])
        }
    }

    /// A device with thirty syncs at the old server and unsynced edits, after the old server's data has moved and the
    /// world has gone on.
    private static func movedDevice(
        _ stack: GatewayStack, clock: OldClock, shape: ClientRequestShape
    ) async throws -> StackDevice {
        var phone = try await stack.device(shape: shape)
        var server = OldServer(clock: clock)
        for sync in 0..<30 {
            try server.change(at: sync)
            if sync % 3 == 0 { try phone.model.create("tags", id: "tag-\(sync)", ["label": "from the device"]) }
            try server.sync(&phone.model)
        }
        #expect(StackOracle.differences(phone.model.contents, server.contents) == [])
        #expect(phone.model.lastPulledAt == Double(clock.time(29)))

        try await stack.backend.edit(server.edits)
        try await stack.backend.edit(
            .put("projects", ["id": "project-0", "name": "renamed meanwhile"]), .put("tasks", ["id": "task-new"]),
            .delete("tasks", "task-6"), .put("tasks", ["id": "task-3", "position": 77]))

        try phone.model.create("tags", id: "unsynced", ["label": "made offline"])
        try phone.model.update("tasks", "task-3", with: ["name": "edited offline"], now: 1_700_000_000_000)
        try phone.model.delete("tasks", "task-4")
        return phone
    }

    /// The device and the backend are the same, with the edits of both sides in them.
    private static func expectMoved(_ phone: inout StackDevice, _ stack: GatewayStack) async throws {
        #expect(try await stack.differences(of: phone) == [])
        #expect(!phone.model.hasUnsyncedChanges)
        let records = try await stack.backend.records()
        #expect(records["tags"]?["unsynced"]?["label"] == "made offline")
        #expect(records["tasks"]?["task-3"]?["name"] == "edited offline")
        #expect(records["tasks"]?["task-3"]?["position"] == 77)
        #expect(records["tasks"]?["task-4"] == nil && records["tasks"]?["task-6"] == nil)
        #expect(phone.model.record("projects", "project-0")?.values["name"] == "renamed meanwhile")
        try await phone.sync()
        #expect(try await stack.differences(of: phone) == [])
        #expect(try await stack.backend.records() == records)
    }
}

/// A plain sync server of another make, with its own records and its own times.
private struct OldServer {
    let clock: MovingTests.OldClock
    private var rows: [String: [String: (values: [String: ClientValue], changed: Int)]] = [:]
    private var deletions: [(table: String, id: String, at: Int)] = []
    private var syncs = 0

    init(clock: MovingTests.OldClock) { self.clock = clock }

    /// Something happens on the server between two syncs.
    mutating func change(at sync: Int) throws {
        let stamp = ClientValue.number(1_690_000_000_000 + Double(sync))
        put(
            "projects", "project-\(sync % 4)",
            ["name": .string("name \(sync)"), "is_archived": false, "color": .null])
        put(
            "tasks", "task-\(sync)",
            [
                "name": .string("task \(sync)"), "position": .number(Double(sync) / 4),
                "is_done": .boolean(sync % 2 == 0),
                "project_id": .string("project-\(sync % 4)"), "note": .null, "created_at": stamp, "updated_at": stamp,
                "due_at": .null,
            ])
        if sync % 5 == 0, sync > 0 { remove("tasks", "task-\(sync - 3)") }
    }

    /// Answers a pull and takes a push.
    mutating func sync(_ model: inout ClientModel) throws {
        let since = model.lastPulledAt.flatMap { last in (0..<syncs).first { Double(clock.time($0)) == last } }
        let applied = model.apply(answer(since: since), to: try model.pullArguments().arguments)
        #expect(applied.failure == nil)
        let changes = model.fetchLocalChanges()
        for table in changes.tables {
            for record in table.created + table.updated { put(table.name, record.id, record.values) }
        }
        model.markAsSynced(changes)
        syncs += 1
    }

    private func answer(since: Int?) -> JSONValue {
        let tables = ClientSchema.quickstart.tables.map { table in
            let changed = (rows[table.name] ?? [:]).filter { row in since.map { row.value.changed > $0 } ?? true }
            let records = changed.map { id, row in
                JSONValue.object([.init("id", .string(id))] + row.values.map { .init($0.key, $0.value.json) })
            }
            let deleted = deletions.filter { $0.table == table.name && since != nil }.map { JSONValue.string($0.id) }
            return JSONValue.Member(
                table.name,
                .object([
                    .init("created", .array(since == nil ? records : [])),
                    .init("updated", .array(since == nil ? [] : records)), .init("deleted", .array(deleted)),
                ]))
        }
        return .object([.init("changes", .object(tables)), .init("timestamp", .integer(clock.time(syncs)))])
    }

    private mutating func put(_ table: String, _ id: String, _ values: [String: ClientValue]) {
        rows[table, default: [:]][id] = (values, syncs)
    }

    private mutating func remove(_ table: String, _ id: String) {
        rows[table]?[id] = nil
        deletions.append((table, id, syncs))
    }

    /// What a device should show.
    var contents: [String: [String: [String: ClientValue]]] {
        var contents: [String: [String: [String: ClientValue]]] = [:]
        for table in ClientSchema.quickstart.tables {
            contents[table.name] = (rows[table.name] ?? [:]).mapValues(\.values)
        }
        return contents
    }

    /// The same records for the backend that they move to.
    var edits: [DemoEdit] {
        ClientSchema.quickstart.tables.flatMap { table in
            (rows[table.name] ?? [:]).map { id, row in
                var record: [String: DemoValue] = ["id": .string(id)]
                for (column, value) in row.values {
                    let words = column.split(separator: "_").map(String.init)
                    let name = words[0] + words.dropFirst().map(\.capitalized).joined()
                    record[name] = DemoValue(parsing: value.json.serialised)
                }
                return .put(table.name, record)
            }
        }
    }
}
