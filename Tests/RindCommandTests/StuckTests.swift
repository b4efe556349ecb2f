// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Gateway
import JSONBytes
import SQLiteState
import StateStore
import SyncModel
import Testing

@testable import rind

/// `rind replicas stuck`, and the gateway that finds out.
@Suite(.timeLimit(.minutes(3))) struct StuckTests {
    @Test func `a stuck replica is listed with its reason and what to do`() async throws {
        try await StateFixture.with { state in
            #expect(try await state.run("replicas", "stuck").out == "no stuck replicas\n")
            let now = SystemClock().now
            for minute in (0..<6).reversed() {
                for (kind, code) in [(DeviceTrouble.Kind.push, "push.rejected"), (.sameCursor, "")] {
                    _ = try await state.store.change(StateFixture.alice) {
                        try TroubleRules.note(
                            DeviceTrouble(
                                replica: StateFixture.phone, principal: StateFixture.alice, kind: kind, count: 1,
                                since: now - Int64(minute) * 60_000, lastAt: now - Int64(minute) * 60_000, code: code),
                            in: &$0)
                    }
                }
            }
            let text = try await state.run("replicas", "stuck")
            #expect(text.out.contains("0123456789abcdef  a11ce0000000  push_fails   6"), "\(text.out)")
            #expect(text.out.contains("same_cursor: its answers do not arrive"))
            let json = try await state.json("replicas", "stuck", "--limit", "1")
            #expect(json["more"]?.bool == true && json["stuck"]?.array?.count == 1)
            #expect(json["stuck"]?[0]?["code"]?.string == "push.rejected")
            #expect(json["stuck"]?[0]?["times"]?.int64 == 6)
        }
    }

    @Test func `a device whose pushes are refused is logged, counted and listed, until a push succeeds`() async throws {
        try await Self.withGateway(["RIND_ADMIN_STUCK_PUSHES": "1"]) { gateway, metrics in
            let cursor = try await Self.confirmed(gateway)
            func push(_ label: String) async throws -> Int {
                let record = #"{"id":"t1","label":"\#(label)"}"#
                return try await gateway.post(
                    "/sync?last_pulled_at=\(cursor)",
                    #"{"tags":{"created":[],"updated":[\#(record)],"deleted":[]}}"#, token: "ada-token"
                ).status
            }
            #expect(try await push("a") == 200)
            // The device has not pulled its own echo.
            #expect(try await push("b") == 409)
            let line = try #require(await gateway.command.errorMatch("a device is stuck.*"))
            #expect(line.contains("code=device.stuck") && line.contains("reason=push_fails"))
            #expect(line.contains("last_code=push.conflict"))
            #expect(try await metrics().contains(#"rind_stuck_devices{reason="push_fails"} 1"#))
            let list = try await Self.stuck(gateway, ["RIND_ADMIN_STUCK_PUSHES": "1"])
            #expect(list.contains("push_fails") && list.contains("push.conflict"), "\(list)")

            let pulled = try await gateway.get("/sync?last_pulled_at=\(cursor)", token: "ada-token")
            let next = try #require(pulled.body.firstMatch(of: #/"timestamp":(\d+)/#)?.1)
            let record = #"{"id":"t1","label":"c"}"#
            let last = try await gateway.post(
                "/sync?last_pulled_at=\(next)", #"{"tags":{"created":[],"updated":[\#(record)],"deleted":[]}}"#,
                token: "ada-token")
            #expect(last.status == 200)
            #expect(await gateway.command.errorMatch("a device is not stuck any more.*reason=push_fails") != nil)
            #expect(try await Self.stuck(gateway, ["RIND_ADMIN_STUCK_PUSHES": "1"]) == "no stuck replicas\n")
        }
    }

    @Test func `a device that comes again and again with one cursor is stuck, and an idle one is not`() async throws {
        let variables = ["RIND_ADMIN_STUCK_REPEATS": "1"]
        try await Self.withGateway(variables) { gateway, _ in
            let cursor = try await Self.confirmed(gateway)
            for _ in 0..<3 {
                #expect(try await gateway.get("/sync?last_pulled_at=\(cursor)", token: "ada-token").status == 200)
            }
            #expect(try await Self.stuck(gateway, variables) == "no stuck replicas\n")
            try await gateway.backend.edit(.put("tags", ["id": "t9", "label": "new"]))
            for _ in 0..<2 {
                #expect(try await gateway.get("/sync?last_pulled_at=\(cursor)", token: "ada-token").status == 200)
            }
            #expect(try await Self.stuck(gateway, variables).contains("same_cursor"))
            let pulled = try await gateway.get("/sync?last_pulled_at=\(cursor)", token: "ada-token")
            let next = try #require(pulled.body.firstMatch(of: #/"timestamp":(\d+)/#)?.1)
            #expect(try await gateway.get("/sync?last_pulled_at=\(next)", token: "ada-token").status == 200)
            #expect(try await Self.stuck(gateway, variables) == "no stuck replicas\n")
        }
    }

    /// A first sync that comes back; the cursor after it.
    private static func confirmed(_ gateway: Site) async throws -> String {
        let first = try await gateway.get("/sync?last_pulled_at=null", token: "ada-token")
        let cursor = String(try #require(first.body.firstMatch(of: #/"timestamp":(\d+)/#)?.1))
        #expect(try await gateway.get("/sync?last_pulled_at=\(cursor)", token: "ada-token").status == 200)
        return cursor
    }

    private static func stuck(_ gateway: Site, _ environment: [String: String]) async throws -> String {
        try await RunningCommand.run(
            ["replicas", "stuck", "--config", Place.quickstart], environment: environment,
            directory: gateway.served.directory
        ).out
    }

    private static func withGateway(
        _ environment: [String: String], _ body: (Site, () async throws -> String) async throws -> Void
    ) async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "t1", "label": "x"]))
            try await ServedGateway.withAdmin(backend, environment: environment) { served, operated in
                try await body(Site(served: served, backend: backend)) { try await operated.get("/metrics").body }
            }
        }
    }

    /// A gateway, and the backend behind it.
    private struct Site {
        let served: ServedGateway
        let backend: DemoBackend
        var command: RunningCommand { served.command }

        func get(_ path: String, token: String) async throws -> (status: Int, body: String) {
            try await served.get(path, token: token)
        }

        func post(_ path: String, _ body: String, token: String) async throws -> (status: Int, body: String) {
            try await served.post(path, body, token: token)
        }
    }
}
