// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Testing

/// Symptoms of records that are missing, superfluous or wrong, as `docs/TROUBLESHOOTING.md` names them.
@Suite(.timeLimit(.minutes(5))) struct RecordSymptomTests {
    /// The page's device and the stage's.
    private static func device(_ stage: SymptomStage) async throws -> [String: String] {
        ["0123456789abcdef": try await stage.replica()]
    }

    @Test func `A row is missing on one device`() async throws {
        var configuration = DemoConfiguration()
        configuration.order = .faithful
        try await SymptomStage.with(backend: configuration) { stage in
            try await stage.seed()
            stage.backend.clock.advance(by: 10)
            let first = try await stage.quietCursor()
            // A transaction that commits late hides its row behind a token that is already streamed.
            let late = stage.backend.beginLate(.put("tasks", ["id": "t-99", "name": "late", "projectId": "p-0"]))
            stage.backend.clock.advance(by: 10)
            try await stage.backend.edit(.put("tasks", ["id": "t-1", "name": "in time"]))
            let second = try await stage.quietCursor(after: first)
            try await late.commit()
            #expect(try await stage.pull(second).ids("tasks", "updated") == [])
            let device = try await Self.device(stage)
            try await stage.showNext(device)
            try await stage.showNext(device)
            let cured = try await stage.pull(second)
            #expect((cured.ids("tasks", "updated") + cured.ids("tasks", "created")).contains("t-99"))
            _ = try await stage.pull(cured.cursor)
            try await stage.showNext(device)
        }
    }

    @Test func `A row is missing on every device`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            try await stage.backend.edit(.put("tasks", ["id": "t/99", "name": "x", "projectId": "p-0"]))
            #expect(try await stage.pull(cursor).ids("tasks", "created") == [])
            try await stage.showNext()
        }
    }

    @Test func `A deleted row is still there`() async throws {
        var configuration = DemoConfiguration()
        configuration.announcesMoves = false
        try await SymptomStage.with(backend: configuration) { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            // It moves into a project of Bob's that Ada does not see, and the backend sends no delete line.
            try await stage.backend.edit(.put("tasks", ["id": "t-1", "projectId": "p-2"]))
            let next = try await stage.quietCursor(after: cursor)
            let device = try await Self.device(stage)
            try await stage.showNext(device)
            try await stage.rind("replicas", "resync", device["0123456789abcdef", default: ""])
            let cured = try await stage.pull(next)
            #expect(cured.ids("tasks", "deleted") == ["t-1"])
            _ = try await stage.pull(cured.cursor)
            try await stage.showNext(device)
        }
    }

    @Test func `Many deleted rows are still there`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed(projects: 240, tasks: 300)
            let cursor = try await stage.quietCursor()
            try await stage.backend.wipe()
            try await stage.backend.setPendingReset(true, token: "ada-token")
            let held = try await stage.pull(cursor)
            #expect(held.status == 200 && held.ids("tasks", "deleted").isEmpty)
            try await stage.showNext()
            try await stage.showNext(try await Self.device(stage))
            var (last, deleted) = (held.cursor, 0)
            for _ in 0..<4 {
                let pulled = try await stage.pull(last)
                deleted += pulled.ids("tasks", "deleted").count
                last = pulled.cursor
            }
            #expect(deleted > 100)
        }
    }

    @Test func `An edit does not reach the other devices`() async throws {
        try await SymptomStage.with(environment: ["RIND_PUSH_REJECTED": "quarantine"]) { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            stage.backend.rejectedIDs = ["t-1"]
            #expect(try await stage.rename("t-1", to: "mine", at: cursor) == 200)
            try await stage.showNext()
            stage.backend.rejectedIDs = []
            try await stage.showNext()
            #expect(try await stage.pull(cursor).ids("tasks", "updated") == ["t-1"])
            #expect(try await stage.rind("quarantine", "list").out == "the quarantine is empty\n")
        }
    }

    @Test func `A row exists twice`() async throws {
        try await Place.withDirectory { directory in
            // The backend makes the ids, and nothing tells what became of a creation without an answer.
            let file = directory.appending(path: "rind.ini")
            try Place.text("examples/integer-ids/rind.ini").replacing("idempotency_header = Idempotency-Key", with: "")
                .write(to: file, atomically: true, encoding: .utf8)
            try await SymptomStage.with(test: "A row exists twice", configuration: file.path) { stage in
                let cursor = try await stage.quietCursor()
                stage.backend.inject(DemoFault("POST", "/folders", action: .loseAnswer))
                let record = #"{"id":"my-folder","name":"Receipts","parent_id":null,"_status":"created","_changed":""}"#
                let push = try await stage.gateway.post(
                    "/sync?last_pulled_at=\(cursor)",
                    #"{"folders":{"created":[\#(record)],"updated":[],"deleted":[]}}"#, token: "ada-token")
                #expect(push.status == 502)
                // The device has it under its own id, and now under the backend's.
                #expect(try await stage.pull(cursor).ids("folders", "created") == ["1"])
                await stage.expectLog("push.unknown_create")
                try await stage.showNext()
                try await stage.showNext()
            }
        }
    }

    @Test func `After an update of the app a column is empty`() async throws {
        try await SymptomStage.with { stage in
            try await stage.showNext()
            let lines = #"""
                {"type":"TaskV2","ack":"TaskV2|1","data":{"id":"t-1","name":"x","position":1,"isDone":"perhaps",\#
                "projectId":"p-0","note":"n","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}}

                """#
            try lines.write(
                to: stage.gateway.directory.appending(path: "lines.jsonl"), atomically: true, encoding: .utf8)
            try await stage.showNext()
        }
    }

    @Test func `A number is 0 on the phone`() async throws {
        try await Place.withDirectory { directory in
            let file = directory.appending(path: "rind.ini")
            try Place.text("examples/quickstart/rind.ini").replacing("note = string?\n", with: "")
                .replacing("position = number", with: "position = number note")
                .write(to: file, atomically: true, encoding: .utf8)
            try await SymptomStage.with(test: "A number is 0 on the phone", configuration: file.path) { stage in
                try await stage.backend.edit(
                    .put("projects", ["id": "p-0", "name": "p"]),
                    .put("tasks", ["id": "t-1", "projectId": "p-0", "name": "x", "note": "12,50"]))
                _ = try await stage.quietCursor()
                await stage.expectLog("pull.unreadable_values")
                try await stage.showNext()
                try await stage.showNext()
                let line =
                    #"{"type":"TaskV2","ack":"TaskV2|1","data":{"id":"t-1","name":"x","note":"12,50","isDone":true,"#
                    + #""projectId":"p-0","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}}"#
                try (line + "\n").write(
                    to: stage.gateway.directory.appending(path: "lines.jsonl"), atomically: true, encoding: .utf8)
                try await stage.showNext()
            }
        }
    }

    @Test func `Records vanish from many devices`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let backup = try stage.backend.backUp()
            try await stage.backend.edit(.put("tags", ["id": "lost", "label": "Lost"]))
            let cursor = try await stage.quietCursor()
            // The database no longer has the row, and nothing says that it was deleted.
            try stage.backend.restore(backup)
            try await stage.rind("state", "distrust")
            let pulled = try await stage.pull(cursor)
            #expect(pulled.ids("tags", "deleted") == ["lost"])
            _ = try await stage.pull(pulled.cursor)
            await stage.expectLog(" absent=1")
            try await stage.showNext()
            try await stage.showNext(Self.device(stage))
        }
    }

    @Test func `Rows of another user appear`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            // Bob signs in on Ada's phone, and the app keeps her database.
            #expect(try await stage.pull(cursor, token: "bob-token").status == 200)
            await stage.expectLog("pull.foreign_cursor")
            try await stage.showNext()
            try await stage.showNext()
        }
    }
}
