// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Another user, who shares things with Ada and takes them back.
let bob = DemoConfiguration.Account.bob.id
/// Whose devices the tests are about.
let ada = DemoConfiguration.Account.ada.id

extension PulledChanges {
    /// What comes, a line for each record, such as `deleted tasks#t-1`.
    var brief: [String] {
        let upserts = [("created", created), ("updated", updated)].flatMap { list, tables in
            tables.flatMap { table, records in records.keys.map { "\(list) \(table)#\($0)" } }
        }
        return (upserts + deleted.flatMap { table, ids in ids.map { "deleted \(table)#\($0)" } }).sorted()
    }
}

extension StackDevice {
    /// Pulls, applies, and tells what came; no id may stand twice in a table.
    mutating func pulled(_ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        let changes = try PulledChanges(await pull().answer)
        #expect(changes.repeated == [], sourceLocation: location)
        return changes.brief
    }

    /// Pulls, applies, and expects that exactly this comes.
    mutating func expectPull(_ expected: [String], _ location: SourceLocation = #_sourceLocation) async throws {
        let brief = try await pulled(location)
        #expect(brief == expected, sourceLocation: location)
    }

    /// What its user sees of a table, by id.
    func ids(_ table: String) -> [String] { (model.contents[table] ?? [:]).keys.sorted() }
}

extension GatewayStack {
    /// Devices of Ada's that hold everything and have said so; a token that is there twice is one session.
    func quietDevices(_ tokens: [String] = ["device-a"]) async throws -> [StackDevice] {
        var devices: [StackDevice] = []
        for (place, token) in tokens.enumerated() {
            devices.append(try await device(token: token, seed: UInt64(place + 1)))
        }
        for place in devices.indices.map({ $0 }) + devices.indices.map({ $0 }) { try await devices[place].sync() }
        for device in devices { try await expectEqual(device) }
        return devices
    }

    /// Deletes records at the backend, which then remembers nothing of it.
    func lose(_ table: String, _ ids: [String]) async throws {
        try await backend.edit(ids.map { .delete(table, $0) })
        try await backend.forgetDeletions()
    }

    /// A reset is due for a session.
    func demandReset(_ token: String = "device-a") async throws {
        try await backend.setPendingReset(true, token: token)
    }

    /// A project of Bob's that Ada may see, with a task for each name, each with a comment `c-NAME`.
    func share(_ project: String, tasks: [String]) async throws {
        var edits: [DemoEdit] = [.put("projects", ["id": .string(project)])]
        for task in tasks {
            edits.append(.put("tasks", ["id": .string(task), "projectId": .string(project)]))
            edits.append(.put("comments", ["id": .string("c-\(task)"), "taskId": .string(task), "body": "said"]))
        }
        edits.append(.share(project: project, with: ada))
        try await backend.edit(as: bob, edits)
    }

    /// Log lines with this code.
    func logged(_ code: String) -> [CapturedLog.Line] { log.lines.filter { $0.metadata["code"] == code } }

    /// The warnings about changes that only a comparison has found.
    var repairs: [CapturedLog.Line] { log.lines(containing: "changes that the backend's stream had missed") }
}
