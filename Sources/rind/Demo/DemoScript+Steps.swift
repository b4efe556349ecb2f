// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import HTTPTypes
import JSONBytes

extension DemoScript {
    mutating func firstSync() async throws {
        printer.step(
            "First sync",
            "A phone that has never synced asks for everything. The backend streams its types; Rind makes tables.")
        let (changes, document) = try await pull(token, from: nil)
        if let record = document["tasks"]?["created"]?[0] { printer.record("a task:", record) }
        try await expectEverything(document)
        printer.say("The timestamp is the cursor. When it comes back, Rind knows that all of this is on the phone.")
        cursor = changes.timestamp
    }

    mutating func editOnBackend() async throws {
        printer.step("An edit on the backend", "A task is renamed in the web app, at the backend itself.")
        let exchange = try await send(
            DemoRequest(
                method: .patch, url: "\(backendURL)/tasks/t-0", token: token,
                body: .object([.init("name", .string("Paint the fence green")), .init("isDone", .bool(false))])))
        try printer.expect(exchange.status == 200, "the backend has taken it")
    }

    mutating func incrementalPull() async throws {
        printer.step("Incremental pull", "The phone presents its cursor and gets what has changed since.")
        let (changes, document) = try await pull(token, from: cursor)
        let record = document["tasks"]?["updated"]?[0] ?? .null
        printer.record("the task:", record)
        try printer.expect(
            Self.ids(document["tasks"]?["updated"]) == ["t-0"] && changes.count == 1,
            "exactly the one task came")
        try printer.expect(record["name"]?.string == "Paint the fence green", "it has its new name")
        try printer.expect(changes.timestamp > cursor, "the cursor is a new one")
        task = record
        cursor = changes.timestamp
    }

    mutating func push() async throws {
        printer.step(
            "Push", "The phone sends what was done on it, as WatermelonDB does: a new tag, and the task as a whole row."
        )
        let tag = JSONValue.object([
            .init("id", .string("demo-urgent")), .init("label", .string("urgent")),
            .init("_status", .string("created")),
            .init("_changed", .string("")),
        ])
        let task = task.edited("name", .string("Paint the fence blue"))
        try await push(
            token, from: cursor,
            .object([.init("tags", Self.lists(created: [tag])), .init("tasks", Self.lists(updated: [task]))]))
        let records = try await backend.records()
        try printer.expect(
            records["tasks"]?["t-0"]?["name"]?.string == "Paint the fence blue"
                && records["tags"]?["demo-urgent"]?["label"]?.string == "urgent", "the backend has both")
    }

    mutating func pullAfterPush() async throws {
        printer.step(
            "Pull after a push", "What the phone has pushed comes back once, in 'updated'; a client skips what it has.")
        let (changes, document) = try await pull(token, from: cursor)
        let ids = Self.ids(document["tasks"]?["updated"]) + Self.ids(document["tags"]?["updated"])
        try printer.expect(ids == ["t-0", "demo-urgent"], "the task and the tag came, and nothing in 'created'")
        cursor = changes.timestamp
    }

    mutating func deletion() async throws {
        printer.step("A delete", "The tag is deleted on the phone.")
        try await push(token, from: cursor, .object([.init("tags", Self.lists(deleted: ["demo-urgent"]))]))
        let isGone = try await backend.records()["tags"]?["demo-urgent"] == nil
        try printer.expect(isGone, "it is gone from the backend")
    }

    mutating func secondDevice() async throws {
        printer.step(
            "A second device",
            "Ada signs in on a tablet. The login passes through the gateway; then the tablet's first sync.")
        let body = JSONValue.object([
            .init("email", .string("ada@example.com")), .init("password", .string("demo")),
        ])
        let login = try await send(DemoRequest(method: .post, url: "\(gatewayURL)/auth/login", body: body))
        guard let text = try? JSONValue.parse(login.body), let token = text["accessToken"]?.string else {
            return try printer.expect(false, "the login gives a token")
        }
        try printer.expect(login.status == 201, "the login gives a token")
        let (changes, document) = try await pull(token, from: nil)
        try await expectEverything(document)
        let row = document["tasks"]?["created"]?.array?.first { $0["id"]?.string == "t-0" }
        tablet = Tablet(token: token, cursor: changes.timestamp, task: row ?? .null)
    }

    mutating func devicesMeet() async throws {
        printer.step("The devices meet", "The tablet ticks the task off; the phone hears of it, and of its own delete.")
        let task = tablet.task.edited("is_done", .bool(true))
        try await push(tablet.token, from: tablet.cursor, .object([.init("tasks", Self.lists(updated: [task]))]))
        let (changes, document) = try await pull(token, from: cursor)
        try printer.expect(
            document["tasks"]?["updated"]?[0]?["is_done"]?.bool == true
                && Self.ids(document["tasks"]?["updated"]) == ["t-0"], "the phone has the task, done")
        try printer.expect(
            Self.ids(document["tags"]?["deleted"]) == ["demo-urgent"], "the deleted tag comes as deleted, once")
        cursor = changes.timestamp
    }
}

extension JSONValue {
    /// Returns the row with another value in one column, and with the client's marks of the change.
    fileprivate func edited(_ column: String, _ value: JSONValue) -> JSONValue {
        let row = (members ?? []).map { $0.name == column ? Member(column, value) : $0 }
        return .object(row + [Member("_status", .string("updated")), Member("_changed", .string(column))])
    }
}
