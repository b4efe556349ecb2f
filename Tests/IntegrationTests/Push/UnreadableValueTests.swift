// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import JSONBytes
import StateStore
import SyncModel
import Testing

/// Values that could not be read on the way down, and what becomes of them on the way up.
@Suite(.timeLimit(.minutes(5))) struct UnreadableValueTests {
    /// The position stands for a price: a number to the app, which the backend keeps as a text.
    private static func options(_ style: PushStyle, send: String = "row") throws -> StackOptions {
        var options = try style.options(["push.send": send])
        let text = try options.configuration ?? StackConfiguration.quickstart()
        options.configuration = text.replacing("note = string?\n", with: "")
            .replacing("position = number", with: "position = number note decimal")
            .replacing(#""position":"{position}","#, with: "").replacing(
                #""note":"{note}""#, with: #""note":"{position}""#)
        return options
    }

    private static func price(_ stack: GatewayStack) async throws -> String? {
        try await stack.records("tasks")["t"]?["note"]?.string
    }

    @Test(arguments: PushStyle.allCases, ["row", "changed"])
    func `a price that could not be read is as before after an edit of the title`(style: PushStyle, send: String)
        async throws
    {
        try await GatewayStack.with(Self.options(style, send: send)) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]),
                .put("tasks", ["id": "t", "projectId": "p", "name": "a", "note": "12,50"]))
            var phone = try await stack.device()
            try await phone.sync()
            #expect(phone.model.record("tasks", "t")?.values["position"] == 0)
            try phone.model.update("tasks", "t", with: ["name": "b"], now: 2)
            try await phone.sync()
            #expect(try await stack.records("tasks")["t"]?["name"] == "b")
            #expect(try await Self.price(stack) == "12,50")
            // The same again, by a later cursor.
            try await phone.sync()
            try phone.model.update("tasks", "t", with: ["name": "c"], now: 3)
            try await phone.sync()
            #expect(try await stack.records("tasks")["t"]?["name"] == "c")
            #expect(try await Self.price(stack) == "12,50")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `what the user enters is sent, the default too`(style: PushStyle) async throws {
        try await GatewayStack.with(Self.options(style)) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]),
                .put("tasks", ["id": "t", "projectId": "p", "name": "a", "note": "12,50"]))
            var phone = try await stack.device()
            try await phone.sync()
            try phone.model.update("tasks", "t", with: ["position": 15.5], now: 2)
            try await phone.sync()
            #expect(try await Self.price(stack) == "15.5")
            try await phone.sync()
            try phone.model.update("tasks", "t", with: ["position": 0], now: 3)
            try await phone.sync()
            #expect(try await Self.price(stack) == "0")
        }
    }

    @Test func `an app that says nothing of its changes overwrites it as little`() async throws {
        try await GatewayStack.with(Self.options(.stream)) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]),
                .put("tasks", ["id": "t", "projectId": "p", "name": "a", "note": "12,50"]))
            let first = try await stack.pull(nil)
            let second = try await stack.pull(first.timestamp)
            let answer = try await stack.push(
                #"{"tasks":{"updated":[{"id":"t","name":"b","position":0,"project_id":"p"}]}}"#, at: second.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            #expect(try await Self.price(stack) == "12,50")
        }
    }

    @Test func `it is counted, logged once an hour by column and shape, and found by record`() async throws {
        try await GatewayStack.with(Self.options(.stream)) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]),
                .put("tasks", ["id": "t", "projectId": "p", "note": "12,50"]),
                .put("tasks", ["id": "u", "projectId": "p", "note": "13,50"]))
            let first = try await stack.pull(nil)
            #expect(try await stack.figures(of: first.answer)["repaired"] == "2")
            let told = try #require(stack.logged("pull.unreadable_values").first)
            #expect(told.metadata["table"] == "tasks" && told.metadata["column"] == "position")
            #expect(told.metadata["values"] == "2" && told.metadata["shape"] == #"text "99,99""#)
            #expect(!"\(stack.logged("pull.unreadable_values"))".contains("12,50"))
            let entries = try await stack.store.inspection.quarantined(limit: 10)
            #expect(Set(entries.map(\.line.id)) == ["t", "u"])
            #expect(entries.allSatisfy { $0.line.reason == .unreadableValue && $0.line.table == "tasks" })
            #expect(entries.allSatisfy { String(decoding: $0.line.bytes, as: UTF8.self) == #"position: text "99,99""# })
            try await stack.backend.edit(.put("tasks", ["id": "t", "projectId": "p", "note": "14,50"]))
            _ = try await stack.pull(first.timestamp)
            #expect(stack.logged("pull.unreadable_values").count == 1)
        }
    }

    /// How an app says, or does not say, what its device has seen.
    enum Seen: CaseIterable { case nothing, unknown, created }

    @Test(arguments: PushStyle.allCases, Seen.allCases)
    func `no push sends the default, whatever it says of its device`(style: PushStyle, seen: Seen) async throws {
        try await GatewayStack.with(Self.options(style)) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]),
                .put("tasks", ["id": "t", "projectId": "p", "name": "a", "note": "12,50"]))
            let first = try await stack.pull(nil)
            let second = try await stack.pull(first.timestamp)
            let timestamp = seen == .nothing ? nil : seen == .unknown ? 1_000 : second.timestamp
            let record = #"{"id":"t","name":"b","position":0,"project_id":"p","_changed":"name"}"#
            let kind = seen == .created ? "created" : "updated"
            let answer = try await stack.push(#"{"tasks":{"\#(kind)":[\#(record)]}}"#, at: timestamp)
            // A push from an unknown cursor may be refused, but sends nothing.
            if seen != .unknown { #expect(answer.isSuccess, "\(answer)") }
            #expect(try await Self.price(stack) == "12,50")
            guard answer.isSuccess else { return }
            #expect(try await stack.records("tasks")["t"]?["name"] == "b")
            let told = try #require(stack.logged("push.withheld_values").first)
            #expect(told.metadata["columns"] == "tasks.position" && told.metadata["record"] == "t")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `a push that waits in quarantine keeps its default from the value, too`(style: PushStyle) async throws {
        var options = try Self.options(style)
        options.overrides.merge(["push.rejected": "quarantine", "pull.repeat_window": "0s"]) { $1 }
        try await GatewayStack.with(options) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]),
                .put("tasks", ["id": "t", "projectId": "p", "name": "a", "note": "12,50"]))
            var phone = try await stack.device()
            for _ in 0..<2 { try await phone.sync() }
            stack.backend.rejectedIDs = ["t"]
            try phone.model.update("tasks", "t", with: ["name": "b"], now: 2)
            try await phone.sync()
            #expect(try await stack.records("tasks")["t"]?["name"] == "a")
            stack.backend.rejectedIDs = []
            let store = stack.store
            #expect(try await store.commands.scheduleRetries(nil, of: nil, at: 1_800_000_000_000).count == 1)
            for _ in 0..<2 { try await phone.sync() }
            #expect(try await stack.records("tasks")["t"]?["name"] == "b")
            #expect(try await Self.price(stack) == "12,50")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `where the ledger cannot be read, no default is sent at all`(style: PushStyle) async throws {
        try await GatewayStack.withBackend(Self.options(style)) { backend, directory in
            let options = try Self.options(style)
            var phone = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await stack.backend.edit(
                    .put("projects", ["id": "p"]),
                    .put("tasks", ["id": "t", "projectId": "p", "name": "a", "note": "12,50"]))
                var phone = try await stack.device()
                for _ in 0..<2 { try await phone.sync() }
                return phone
            }
            try StateDump.damage("tasks", path: "\(directory)/state.db")
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                phone.http = stack.http
                try phone.model.update("tasks", "t", with: ["name": "b"], now: 2)
                try await phone.push()
                #expect(stack.logged("ledger.damaged").count == 1)
                #expect(try await stack.records("tasks")["t"]?["name"] == "b")
                #expect(try await Self.price(stack) == "12,50")
            }
        }
    }

    @Test func `a time without a zone is that of the column's zone, both ways`() async throws {
        var options = try Self.options(.calls)
        options.configuration = options.configuration?.replacing(
            "position = number note decimal", with: "position = timestamp note zone Europe/Berlin")
        try await GatewayStack.with(options) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]),
                .put("tasks", ["id": "w", "projectId": "p", "name": "a", "note": "2025-01-01 11:00:00"]),
                .put("tasks", ["id": "s", "projectId": "p", "name": "a", "note": "2025-07-01 12:00:00"]))
            let first = try await stack.pull(nil)
            let changes = try PulledChanges(first.answer)
            let tasks = (changes.created["tasks"] ?? [:]).merging(changes.updated["tasks"] ?? [:]) { $1 }
            #expect(tasks["w"]?["position"]?.number == 1_735_725_600_000)
            #expect(tasks["s"]?["position"]?.number == 1_751_364_000_000)
            #expect(stack.logged("pull.times_without_zone").isEmpty)
            let answer = try await stack.push(
                #"{"tasks":{"updated":[{"id":"s","name":"b","position":1751364060000,"project_id":"p"}]}}"#,
                at: first.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            #expect(try await stack.records("tasks")["s"]?["note"]?.string == "2025-07-01T12:01:00.000+02:00")
        }
    }
}
