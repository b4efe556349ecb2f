// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import JSONBytes
import Testing

/// Symptoms of syncs that fail, are slow or fetch too much, as `docs/TROUBLESHOOTING.md` names them.
@Suite(.timeLimit(.minutes(5))) struct SyncSymptomTests {
    @Test func `Every sync fails with 503`() async throws {
        try await SymptomStage.with { stage in
            stage.backend.inject(DemoFault("GET", "/users/me", times: 100, action: .status(503, retryAfter: 30)))
            for _ in 0..<3 { #expect(try await stage.pull().status == 503) }
            await stage.expectLog("(?s)( status=503.*){3}")
            try await stage.showNext()
            stage.backend.clearFaults()
            #expect(try await stage.pull().status == 200)
        }
    }

    @Test func `Every sync fails with 502 or 504`() async throws {
        try await SymptomStage.with(path: "/v2") { stage in
            #expect(try await stage.pull().status == 502)
            try await stage.showNext()
            try await stage.showNext(environment: ["RIND_BACKEND_URL": try await stage.backend.url])
        }
    }

    @Test func `Login works, but every sync fails with 401`() async throws {
        try await SymptomStage.with(environment: ["RIND_IDENTITY_PRINCIPAL": "cookie:session"]) { stage in
            let login = try await stage.gateway.post(
                "/auth/login", #"{"email":"ada@example.com","password":"demo"}"#, token: "none")
            #expect(login.status == 201)
            #expect(try await stage.pull().status == 401)
            try await stage.showNext()
            let asBackend = ["RIND_IDENTITY_PRINCIPAL": "backend:GET /users/me id"]
            try await stage.showNext(["TOKEN": "expired"], environment: asBackend)
        }
    }

    @Test func `A WebSocket does not connect or breaks`() async throws {
        try await SymptomStage.with { stage in try await stage.showNext() }
    }

    @Test func `A device gets 409 again and again`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            try await stage.backend.edit(.put("tasks", ["id": "t-1", "name": "by another user"]))
            for _ in 0..<3 { #expect(try await stage.rename("t-1", to: "mine", at: cursor) == 409) }
            await stage.expectLog("(?s)( status=409.*){3}")
            try await stage.showNext()
            try await stage.showNext(["0123456789abcdef": try await stage.replica()])
            // The cure: the app pulls before it pushes again.
            let next = try #require(try await stage.pull(cursor).cursor)
            #expect(try await stage.rename("t-1", to: "mine", at: next) == 200)
        }
    }

    @Test func `Pushes fail with 422`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            stage.backend.rejectedIDs = ["t-1"]
            for _ in 0..<2 { #expect(try await stage.rename("t-1", to: "mine", at: cursor) == 422) }
            try await stage.showNext(["0123456789abcdef": try await stage.replica()])
            stage.backend.rejectedIDs = []
            #expect(try await stage.rename("t-1", to: "mine", at: cursor) == 200)
        }
    }

    @Test func `Pushes fail with 502`() async throws {
        try await SymptomStage.with(environment: ["RIND_PUSH_RETRY_BUDGET": "0s"]) { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            stage.backend.inject(DemoFault("POST", "/sync/push", times: 100, action: .status(500)))
            #expect(try await stage.rename("t-1", to: "mine", at: cursor) == 502)
            await stage.expectLog(" status=502")
            try await stage.showNext()
        }
    }

    @Test func `After an update of the app every sync fails with 400`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            #expect(try await stage.pull(cursor, version: 2).status == 400)
            await stage.expectLog(" status=400")
            try await stage.showNext()
            try await stage.showNext()
        }
    }

    @Test func `Syncs are slow or time out`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            stage.backend.inject(DemoFault("POST", "/sync/stream", action: .delay(1500)))
            #expect(try await stage.pull(cursor).status == 200)
            await stage.expectLog("duration_ms=[0-9]{4}.* lines=1 ")
            try await stage.showNext()
        }
    }

    @Test func `Every sync downloads everything`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            // The app loses the timestamp; then another one signs in anew before each sync.
            for _ in 0..<3 { #expect(try await stage.pull().ids("projects", "created").count == 2) }
            try await stage.showNext()
            let cursor = try await stage.quietCursor()
            let token = try await stage.backend.login(as: "ada@example.com")
            #expect(try await stage.pull(cursor, token: token).status == 200)
            await stage.expectLog("restart=")
            try await stage.showNext()
        }
    }

    @Test func `A phone was restored from a backup`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let old = try await stage.quietCursor()
            try await stage.backend.edit(.put("tasks", ["id": "t-1", "name": "since the backup"]))
            #expect(try await stage.quietCursor(after: old) > old)
            #expect(try await stage.pull(old).ids("tasks", "updated") == ["t-1"])
            try await stage.showNext()
        }
    }
}
