// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import DemoBackend
import Foundation
import Testing

@testable import rind

@Suite struct MetricsTests {
    @Test func `syncs, their stages, rows and refusals are counted, and nothing is exposed to clients`() async throws {
        try await Self.withGateway { gateway, metrics in
            let before = try await metrics()
            #expect(before[#"rind_build_info{version="\#(Version.number)"}"#] == 1)
            #expect(before["rind_backend_lines_total"] == 0)

            let first = try await gateway.get("/sync?last_pulled_at=null", token: "ada-token")
            let cursor = try #require(first.body.firstMatch(of: #/"timestamp":(\d+)/#)?.1)
            _ = try await gateway.get("/sync?last_pulled_at=\(cursor)", token: "ada-token")
            let push = #"{"tags":{"created":[{"id":"n1","label":"new"}],"updated":[],"deleted":[]}}"#
            #expect(try await gateway.post("/sync?last_pulled_at=\(cursor)", push, token: "ada-token").status == 200)
            #expect(try await gateway.get("/sync?last_pulled_at=x", token: "ada-token").status == 400)
            #expect(try await gateway.get("/sync?last_pulled_at=null").status == 401)
            #expect(try await gateway.get("/users/me", token: "ada-token").status == 200)
            #expect(try await gateway.get("/metrics").status == 404, "the backend's, not the gateway's")

            let after = try await Self.samples(
                with: #"rind_requests_total{kind="proxy",status="4xx"}"#, metrics)
            for (series, value) in [
                #"rind_syncs_total{kind="pull",mode="first",result="ok",code=""}"#: 1.0,
                #"rind_syncs_total{kind="pull",mode="idle",result="ok",code=""}"#: 1,
                #"rind_syncs_total{kind="push",mode="push",result="ok",code=""}"#: 1,
                #"rind_syncs_total{kind="pull",mode="",result="refused",code="request.not_signed_in"}"#: 1,
                #"rind_sync_seconds_count{kind="pull"}"#: 3, #"rind_sync_seconds_count{kind="push"}"#: 1,
                #"rind_sync_stage_seconds_count{kind="pull",stage="diff"}"#: 1,
                #"rind_sync_stage_seconds_count{kind="pull",stage="stream"}"#: 2,
                #"rind_sync_stage_seconds_count{kind="pull",stage="commit"}"#: 1,
                #"rind_sync_stage_seconds_count{kind="push",stage="backend"}"#: 1,
                #"rind_rows_total{table="tags",direction="out"}"#: 2,
                #"rind_rows_total{table="tags",direction="in"}"#: 1,
                #"rind_row_bytes_total{table="tags",direction="in"}"#: 25,
                #"rind_checkpoint_lag_seconds_count{age="day"}"#: 1,
                #"rind_checkpoint_lag_seconds_bucket{age="day",le="600"}"#: 1,
                #"rind_identities_total{result="asked"}"#: 1, #"rind_requests_total{kind="proxy",status="2xx"}"#: 1,
                "rind_state_up": 1, "rind_quarantine_lines": 0, #"rind_journals{state="open"}"#: 0, "rind_draining": 0,
                "rind_pulls_running": 0, "rind_pulls_limit": 64,
            ] { #expect(after[series] == value, "\(series)") }
            #expect(after[#"rind_backend_calls_total{status="2xx"}"#] ?? 0 >= 4)
            #expect(after["rind_backend_lines_total"] ?? 0 >= 2)
            #expect(after["process_resident_memory_bytes"] ?? 0 > 1_000_000)
            #expect(after["process_open_fds"] ?? 0 > 3)
        }
    }

    @Test func `a conflict is counted for its table`() async throws {
        try await Self.withGateway { gateway, metrics in
            let first = try await gateway.get("/sync?last_pulled_at=null", token: "ada-token")
            let cursor = try #require(first.body.firstMatch(of: #/"timestamp":(\d+)/#)?.1)
            func push(_ label: String) async throws -> Int {
                try await gateway.post(
                    "/sync?last_pulled_at=\(cursor)",
                    #"{"tags":{"created":[],"updated":[{"id":"t1","label":"\#(label)"}],"deleted":[]}}"#,
                    token: "ada-token"
                ).status
            }
            #expect(try await push("a") == 200)
            #expect(try await push("b") == 409)
            let refused = #"rind_syncs_total{kind="push",mode="push",result="refused",code="push.conflict"}"#
            let values = try await Self.samples(with: refused, metrics)
            #expect(values[#"rind_conflicts_total{table="tags"}"#] == 1)
            #expect(values[refused] == 1)
        }
    }

    @Test func `what is to be alarmed of is counted: a new state, pushes without results, records that did not come`()
        async throws
    {
        try await DemoBackend.withRunning { backend in
            for id in ["t1", "t2", "t3"] { try await backend.edit(.put("tags", ["id": .string(id), "label": "x"])) }
            try await ServedGateway.withAdmin(backend) { gateway, operated in
                func metrics() async throws -> [String: Double] {
                    try Self.samples(of: try await operated.get("/metrics").body)
                }
                #expect(try await metrics()["rind_states_made_total"] == 1)
                let first = try await gateway.get("/sync?last_pulled_at=null", token: "ada-token")
                let cursor = try #require(first.body.firstMatch(of: #/"timestamp":(\d+)/#)?.1)

                backend.inject(
                    DemoFault("POST", "/sync/push", times: 9, action: .success(body: #"{"results":[]}"#)))
                let push = #"{"tags":{"created":[{"id":"n1","label":"new"}],"updated":[],"deleted":[]}}"#
                let pushed = try await gateway.post("/sync?last_pulled_at=\(cursor)", push, token: "ada-token")
                #expect(pushed.status == 502)
                backend.clearFaults()
                let unknown = #"rind_syncs_total{kind="push",mode="",result="failed",code="push.unknown_outcome"}"#
                let lost = try await Self.samples(with: unknown, metrics)
                #expect(lost["rind_push_results_missing_total"] ?? 0 >= 1)
                #expect(lost[unknown] == 1)

                // The rows go without a line, and the reset shows it.
                try await backend.edit(["t1", "t2"].map { .delete("tags", $0) })
                try await backend.forgetDeletions()
                try await backend.setPendingReset(true, token: "ada-token")
                let again = try await gateway.get("/sync?last_pulled_at=\(cursor)", token: "ada-token")
                #expect(again.status == 200)
                let absent = "rind_absent_deletions_total"
                #expect(try await Self.samples(with: absent, metrics)[absent] == 2)
            }
        }
    }

    /// Lets the body use a gateway whose backend has two tags, and a function that reads its metrics.
    private static func withGateway(
        _ body: (ServedGateway, () async throws -> [String: Double]) async throws -> Void
    ) async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "t1", "label": "x"]))
            try await backend.edit(.put("tags", ["id": "t2", "label": "x"]))
            try await ServedGateway.withAdmin(backend) { served, operated in
                try await body(served) { try Self.samples(of: try await operated.get("/metrics").body) }
            }
        }
    }

    /// Waits until a series counts something: a request is counted when its answer has gone, and may be while the
    /// metrics are read.
    private static func samples(
        with series: String, _ metrics: () async throws -> [String: Double]
    ) async throws -> [String: Double] {
        var tries = 0
        while try await metrics()[series] ?? 0 == 0, tries < 1_000 {
            tries += 1
            try await Task.sleep(for: .milliseconds(10))
        }
        return try await metrics()
    }

    /// Reads Prometheus' text format, and checks that each sample belongs to the family above it.
    private static func samples(of text: String) throws -> [String: Double] {
        var samples: [String: Double] = [:]
        var family = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") { family = String(line.split(separator: " ")[2]) }
            guard !line.hasPrefix("#") else { continue }
            let match = try #require(line.wholeMatch(of: #/([a-z_]+)(\{.*\})? (\S+)/#), "\(line)")
            #expect(["", "_bucket", "_sum", "_count"].contains { family + $0 == match.1 }, "\(line)")
            let key = String(match.1) + (match.2.map(String.init) ?? "")
            #expect(samples[key] == nil, "\(key) comes twice")
            guard let value = Double(String(match.3)) as Double? else { continue }
            samples[key] = value
        }
        return samples
    }
}
