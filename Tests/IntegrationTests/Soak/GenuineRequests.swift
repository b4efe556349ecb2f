// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncModel

/// Valid requests of an app, which are then damaged.
struct GenuineRequests {
    /// Who sends them; a number of its own for each worker of a course.
    let worker: Int
    /// The newest cursor that the worker has got.
    let cursor: Int64?

    private var fields: [(name: String, value: String)] {
        [("Host", "gateway.example"), ("Authorization", "Bearer \(Self.token(worker))"), ("Accept", "*/*")]
    }

    /// The token of a worker.
    static func token(_ worker: Int) -> String { "mutant-\(worker)" }

    /// One of them.
    func draft(_ mutator: inout ByteMutator) -> RequestDraft {
        switch mutator.number(100) {
        case 0..<34: pull(&mutator)
        case 34..<64: push(&mutator)
        case 64..<90: passed(&mutator)
        case 90..<95: probe(&mutator)
        default: denied(&mutator)
        }
    }

    private func time(_ mutator: inout ByteMutator) -> String {
        switch mutator.number(10) {
        case 0..<6: cursor.map { "\($0)" } ?? "null"
        case 6..<9: "null"
        default: "\(mutator.random.next() >> 12)"
        }
    }

    private func pull(_ mutator: inout ByteMutator) -> RequestDraft {
        let time = time(&mutator)
        let version = mutator.one(of: [3, 3, 3, 2, 1])
        let migration = mutator.one(of: [
            "null", "null", "null",
            "%7B%22from%22%3A1%2C%22tables%22%3A%5B%22tags%22%5D%2C%22columns%22%3A%5B%7B%22table%22%3A%22tasks%22%2C"
                + "%22columns%22%3A%5B%22due_at%22%5D%7D%5D%7D",
        ])
        let values = "last_pulled_at=\(time)&schema_version=\(version)&migration=\(migration)"
        var draft = RequestDraft(method: "GET", target: "/sync?\(values)", fields: fields)
        if mutator.percent(30) { draft.fields.append(("Accept-Encoding", "gzip")) }
        if mutator.percent(15) {
            draft.method = "POST"
            draft.target = mutator.one(of: ["/sync/pull", "/sync"])
            draft.fields.append(("Content-Type", "application/json"))
            draft.body = Array(#"{"lastPulledAt":\#(time),"schemaVersion":\#(version),"migration":null}"#.utf8)
        }
        return draft
    }

    private func push(_ mutator: inout ByteMutator) -> RequestDraft {
        let time = time(&mutator)
        let count = 1 + mutator.number(4)
        let tasks = (0..<count).map { _ in
            let id = "w\(worker)-\(mutator.number(12))"
            return #"{"id":"\#(id)","_status":"updated","_changed":"name","name":"named \#(mutator.number(1_000))","#
                + #""position":\#(mutator.number(50)),"is_done":false,"project_id":"p\#(worker / 2)","note":null,"#
                + #""created_at":1700000000000,"updated_at":1700000000000,"due_at":null}"#
        }
        let place = mutator.percent(40) ? "created" : "updated"
        let gone = mutator.percent(30) ? #""w\#(worker)-\#(mutator.number(12))-gone""# : ""
        let sets = #""created":[],"updated":[],"deleted":[\#(gone)]"#
            .replacing(#""\#(place)":[]"#, with: #""\#(place)":[\#(tasks.joined(separator: ","))]"#)
        let body =
            #"{"tasks":{\#(sets)},"tags":{"created":[{"id":"g\#(worker)-\#(mutator.number(5))","label":"tag"}],"#
            + #""updated":[],"deleted":[]},"task_tags":{"created":[],"updated":[],"deleted":[]}}"#
        var draft = RequestDraft(method: "POST", target: "/sync?last_pulled_at=\(time)", fields: fields)
        draft.fields.append(("Content-Type", "application/json"))
        draft.body = Array(body.utf8)
        if mutator.percent(20) {
            draft.target = "/sync/push"
            draft.body = Array(#"{"lastPulledAt":\#(time),"changes":"#.utf8) + draft.body + Array("}".utf8)
        }
        return draft
    }

    private func passed(_ mutator: inout ByteMutator) -> RequestDraft {
        var draft = RequestDraft(method: "GET", target: "/server/version", fields: fields)
        let id = "w\(worker)-\(mutator.number(12))"
        switch mutator.number(9) {
        case 0: break
        case 1: draft.target = "/users/me"
        case 2: draft.method = "HEAD"
        case 3: draft.target = "/tasks/\(id)?fields=all&x=%C3%A4"
        case 4:
            (draft.method, draft.target) = ("PATCH", "/tasks/\(id)")
            draft.body = Array(#"{"name":"patched","position":\#(mutator.number(100))}"#.utf8)
        case 5:
            (draft.method, draft.target) = ("POST", "/auth/login")
            draft.body = Array(#"{"email":"nobody@example.com","password":"wrong"}"#.utf8)
        case 6:
            // The next pull of this session meets a reset.
            (draft.method, draft.target) = ("PUT", "/sessions/me")
            draft.body = Array(#"{"isPendingSyncReset":true}"#.utf8)
        case 7:
            (draft.method, draft.target) = ("DELETE", "/tasks/\(id)-gone")
        default: (draft.method, draft.target) = ("OPTIONS", mutator.one(of: ["*", "/tasks", "/sync"]))
        }
        if !draft.body.isEmpty { draft.fields.append(("Content-Type", "application/json")) }
        return draft
    }

    private func probe(_ mutator: inout ByteMutator) -> RequestDraft {
        RequestDraft(
            method: mutator.one(of: ["GET", "HEAD"]), target: mutator.one(of: ["/livez", "/readyz"]),
            fields: [("Host", "gateway.example")])
    }

    private func denied(_ mutator: inout ByteMutator) -> RequestDraft {
        let paths = [
            "/sync/ack", "/sync/stream", "/sync/%61ck", "//sync/ack", "/x/../sync/ack", "/sync/ack/",
            "/sync/stream.json",
        ]
        return RequestDraft(
            method: mutator.one(of: ["GET", "POST", "DELETE"]), target: mutator.one(of: paths), fields: fields)
    }
}
