// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import GatewayTesting
import StateStore
import Testing

/// Versions that are too old, too new, or cannot be.
@Suite(.timeLimit(.minutes(5))) struct SchemaVersionTests {
    /// The quickstart with other words in its section about the schema.
    private static func options(_ replacements: KeyValuePairs<String, String>) throws -> StackOptions {
        var options = StackOptions()
        options.configuration = try replacements.reduce(StackConfiguration.quickstart()) { text, pair in
            #expect(text.contains(pair.key))
            return text.replacing(pair.key, with: pair.value)
        }
        return options
    }

    @Test func `an app that is too old is told so in a sentence`() async throws {
        try await GatewayStack.with(
            Self.options(["oldest = 1": "oldest = 2", "enabled_at = 1": "enabled_at = 2"])
        ) { stack in
            try await stack.seed()
            let old = try await stack.device(version: 1, token: "device-a")
            let answer = try await old.pullLosingAnswer()
            #expect(answer.outcome == "426 schema.too_old")
            #expect(answer.text.contains("This version of the app is too old to sync. Please update it"))
            #expect(stack.backend.requests.isEmpty, "nobody is bothered")
            #expect(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10).isEmpty)
        }
    }

    @Test func `an app whose data are older than the oldest version gets everything`() async throws {
        let old = StackOptions()
        let new = try Self.options(["oldest = 1": "oldest = 2", "enabled_at = 1": "enabled_at = 2"])
        try await GatewayStack.withBackend(old) { backend, directory in
            var device = try await GatewayStack.with(old, backend: backend, directory: directory) { stack in
                try await stack.seedForMigration()
                return try await stack.quietDevice()
            }
            try await GatewayStack.with(new, backend: backend, directory: directory) { stack in
                device.http = stack.http
                #expect(try await device.pullLosingAnswer().outcome == "426 schema.too_old")
                try await stack.changeTwoHundred()
                device.model.upgrade(to: 3)
                let (answer, _) = try await device.pull()
                #expect(try await stack.migration(of: answer) == "1 to 3")
                try await stack.expectAsFresh(device)
                try await device.expectPull([])
            }
        }
    }

    @Test func `a version that falls is refused, and the right one goes on`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            let before = try stack.clientState()
            let cursor = Int64(try #require(device.model.lastPulledAt))
            for version in [1, 2] {
                let answer = try await stack.sendPull(cursor, version: version, token: "device-a")
                #expect(answer.outcome == "400 schema.went_back")
                #expect(answer.text.contains("of schema version 3") && answer.text.contains("of \(version)"))
            }
            #expect(try stack.clientState() == before)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `migrations that begin after the app's version are refused, but for a first sync`() async throws {
        try await GatewayStack.with(Self.options(["enabled_at = 1": "enabled_at = 2"])) { stack in
            try await stack.seed()
            var old = try await stack.device(version: 1, token: "device-a")
            try await old.pull()
            try await stack.expectEqual(old)
            let answer = try await old.pullLosingAnswer()
            #expect(answer.outcome == "400 schema.migrations_enabled_at")
            #expect(answer.text.contains("from schema version 2 on"))
            // Which the update mends.
            old.model.upgrade(to: 2)
            try await old.pull()
            try await stack.expectEqual(old)
        }
    }

    @Test func `an app that is newer than the configuration gets the newest, and the rest when that has caught up`()
        async throws
    {
        let old = try Self.options([
            "version = 3": "version = 2", "ProjectsV1 then ProjectsV2 since 3": "ProjectsV1",
            "\ncolor = string? since 3": "", "[table tags]\nsince = 3": "[table tags]\nsince = 2",
            "[table task_tags]\nsince = 3": "[table task_tags]\nsince = 2",
        ])
        let new = StackOptions()
        try await GatewayStack.withBackend(new) { backend, directory in
            var device = try await GatewayStack.with(old, backend: backend, directory: directory) { stack in
                try await stack.seedForMigration()
                var device = try await stack.device(version: 3, token: "device-a")
                for _ in 0..<2 { try await device.sync() }
                #expect(device.ids("tasks").count == 240 && device.ids("task_tags").count == 20)
                #expect(device.model.contents["projects"]?.values.allSatisfy { $0["color"] == .null } == true)
                return device
            }
            try await GatewayStack.with(new, backend: backend, directory: directory) { stack in
                device.http = stack.http
                let (answer, _) = try await device.pull()
                #expect(try await stack.migration(of: answer) == "2 to 3")
                try await stack.expectAsFresh(device)
            }
        }
    }

    @Test(arguments: [7, 1_000_000])
    func `a version that is still unknown is the newest`(_ version: Int) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed()
            let first = try PulledChanges(await stack.sendPull(version: version))
            #expect(first.strangers(to: .quickstart, at: 3) == [] && first.tables.count == 5)
            let next = try await stack.sendPull(first.cursor, version: version)
            #expect(try PulledChanges(next).isEmpty)
            #expect(try await stack.migration(of: next) == nil)
        }
    }

    @Test func `what an app asks for that nobody has is left out and counted`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed()
            let device = try await stack.quietDevice(version: 3)
            let cursor = Int64(try #require(device.model.lastPulledAt))
            let migration =
                #"{"from":2,"tables":["tags","ghosts"],"columns":[{"table":"tasks","columns":["due_at","soul"]}]}"#
            let query = migration.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let answer = try await stack.send(
                "GET", "/sync?last_pulled_at=\(cursor)&schema_version=3&migration=\(query)", token: "device-a")
            let changes = try PulledChanges(answer)
            #expect(Set(changes.updated["tags"]?.keys.map { $0 } ?? []) == ["ada-tag-0", "ada-tag-1"])
            #expect(changes.updated["tasks"]?.count == 10 && changes.created == [:] && changes.deleted == [:])
            let told = stack.logged("schema.unknown_names")
            #expect(told.map { $0.metadata["count"] } == ["2"])
            #expect(told.first?.metadata["names"] == "ghosts tasks.soul")
        }
    }
}
