// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import PostgresTesting
import Testing

/// What syncs cost a PostgreSQL database: the table of `docs/SCALING.md`.
@Suite(
    .timeLimit(.minutes(10)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"),
    .disabled(if: TestRun.isSanitized, "a sanitizer is so slow that most syncs meet what a gateway does beside"))
struct DatabaseCostTests {
    /// The counts of one sync.
    private struct Cost: CustomStringConvertible {
        var roundTrips = 0
        var statements = 0
        var sent = 0
        var received = 0
        var log = 0
        /// True if the gateway asked PostgreSQL nothing while the test asked for the log's position.
        var isAlone = true

        var description: String {
            "\(roundTrips) round trips, \(statements) statements, "
                + "\(sent) bytes there, \(received) back, \(log) of WAL"
        }

        /// Returns what a sync costs by itself: the medians of those that took as many round trips as most do.
        ///
        /// What a gateway does beside takes further round trips. Of the log it is the mean: a head that is full writes
        /// a chunk with each third pull or so, which a median leaves out or counts as each one's. It leaves out
        /// syncs beside which something else was written.
        static func usual(_ costs: [Cost]) -> Cost {
            func median(_ costs: [Cost], _ count: KeyPath<Cost, Int>) -> Int {
                costs.map { $0[keyPath: count] }.sorted()[costs.count / 2]
            }
            let roundTrips = median(costs, \.roundTrips)
            let usual = costs.filter { $0.roundTrips == roundTrips }
            let alone = usual.filter(\.isAlone)
            let logs = (alone.isEmpty ? usual : alone).map(\.log)
            return Cost(
                roundTrips: roundTrips, statements: median(usual, \.statements), sent: median(usual, \.sent),
                received: median(usual, \.received), log: logs.reduce(0, +) / logs.count)
        }
    }

    /// A gateway, its backend and its database.
    private struct Setting {
        let gateway: GatewayProcess
        let backend: DemoBackend
        let server: PostgresServer
        let proxy: ServerProxy
        let records: Int
        var costs: [String: [Cost]] = [:]

        mutating func measure<R>(_ sync: String, _ body: () async throws -> R) async throws -> R {
            // To ask for the position takes a while, in which a gateway may do other things.
            let first = proxy.state.withLockedValue(\.syncs)
            let log = try await position()
            let before = proxy.state.withLockedValue(\.self)
            let result = try await body()
            let after = proxy.state.withLockedValue(\.self)
            let end = try await position()
            let last = proxy.state.withLockedValue(\.syncs)
            let cost = Cost(
                roundTrips: after.syncs - before.syncs, statements: after.statements - before.statements,
                sent: after.sentBytes - before.sentBytes, received: after.receivedBytes - before.receivedBytes,
                log: end - log, isAlone: first == before.syncs && after.syncs == last)
            costs[sync, default: []].append(cost)
            return result
        }

        /// Returns where the database's log ends.
        private func position() async throws -> Int {
            let text = try await server.query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn;")
            return try #require(Int(text.filter(\.isNumber)))
        }

        static func text(_ number: Int) -> String { number < 1_000 ? "\(number)" : "\(number / 1_000),000" }

        func pull(_ cursor: Int64?, token: String = "ada-token") async throws -> Int64 {
            try PulledChanges(
                await gateway.http.send(
                    "GET", GatewayStack.pullTarget(cursor), headers: GatewayStack.headers(token))
            ).cursor
        }

        mutating func run() async throws {
            var cursor: Int64 = 0
            // The token is the principal.
            for token in ["bob-token", "device-a", "device-b", "token-a", "ada-token"] {
                cursor = try await measure("first sync of \(Self.text(records)) records") { [self] in
                    try await pull(nil, token: token)
                }
            }
            // A ledger is compacted after 64 changes.
            for round in 0..<128 {
                try await backend.edit(
                    (0..<20).map { number in
                        let id = (round * 20 + number) * 7_919 % records + 1
                        return .put("tasks", ["id": .string("t-\(id)"), "name": .string("round \(round)")])
                    })
                guard round >= 64, round % 3 == 0 else {
                    cursor = try await pull(cursor)
                    continue
                }
                let before = cursor
                cursor = try await measure("pull of 20 changes, of \(Self.text(records)) records") { [self] in
                    try await pull(before)
                }
                let now = cursor
                _ = try await measure("idle pull") { [self] in try await pull(now) }
            }
            for round in 0..<7 {
                let changes = DemoValue.changes(
                    "tags", created: (0..<5).map { ["id": .string("tag-\(round)-\($0)"), "label": "new"] })
                let before = cursor
                let answer = try await measure("stream push of 5 records") { [self] in
                    try await gateway.http.send(
                        "POST", GatewayStack.pushTarget(before), headers: GatewayStack.headers(),
                        body: Array(changes.json.utf8))
                }
                #expect(answer.status == 200)
                cursor = try await pull(cursor)
                _ = try await pull(cursor)
            }
        }
    }

    private static func costs(_ records: Int) async throws -> [String: Cost] {
        let server = try await PostgresServer.fresh()
        // PostgreSQL's own housekeeping writes to the same log.
        for command in [
            "ALTER SYSTEM SET full_page_writes = off", "ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()",
        ] {
            _ = try await server.query(command)
        }
        let costs = try await ServerProxy.with(to: server.port) { proxy in
            try await GatewayStack.withBackend { backend, directory in
                var seed = DemoSeed()
                (seed.projects, seed.tasks, seed.comments, seed.taskTags) = (3, records - 3, 0, 0)
                try await backend.seed(seed)
                return try await GatewayProcess.with(
                    backend: try await backend.url, directory: directory,
                    overrides: [
                        "state.url": server.url(port: proxy.port), "identity.principal": "bearer",
                        "identity.auth_ttl": "1h", "pull.repeat_window": "0s",
                    ], configuration: try StackConfiguration.withRequestCheckpoints()
                ) { gateway in
                    var setting = Setting(
                        gateway: gateway, backend: backend, server: server, proxy: proxy, records: records)
                    try await setting.run()
                    return setting.costs.mapValues(Cost.usual)
                }
            }
        }
        try await server.stop("immediate")
        return costs
    }

    /// Returns the manual's row of a sync: its five figures.
    private static func figures(of sync: String) throws -> [Int] {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/SCALING.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let row = try #require(lines.first { $0.hasPrefix("| \(sync) |") }, "\(sync)")
        return row.split(separator: "|").dropFirst().compactMap { Int($0.filter(\.isNumber)) }
    }

    @Test(arguments: [50, 10_000]) func `a sync costs the database what the manual says`(records: Int) async throws {
        for (sync, cost) in try await Self.costs(records).sorted(by: { $0.key < $1.key }) {
            print("cost: PostgreSQL, \(sync): \(cost)")
            let figures = try Self.figures(of: sync)
            try #require(figures.count == 5)
            #expect(cost.roundTrips == figures[0] && cost.statements == figures[1], "\(sync): \(cost)")
            // What comes back depends on how full the page is that a head keeps its newest cursors in.
            for (count, figure, slack) in [
                (cost.sent, figures[2], 4), (cost.received, figures[3], 2), (cost.log, figures[4], 4),
            ] {
                #expect(abs(count - figure) <= figure / slack, "\(sync): \(cost)")
            }
        }
    }
}
