// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import PostgresTesting
import SyncModel
import Testing

/// The program `rind serve` with its state in PostgreSQL.
@Suite(
    .timeLimit(.minutes(10)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresStateTests {
    private static let created: DemoValue = .changes("tags", created: [["id": "made", "label": "new"]])

    private static func pull(
        _ gateway: GatewayProcess, _ cursor: Int64? = nil, token: String = "ada-token"
    ) async throws -> RawAnswer {
        try await gateway.http.send("GET", GatewayStack.pullTarget(cursor), headers: GatewayStack.headers(token))
    }

    private static func push(
        _ gateway: GatewayProcess, _ cursor: Int64, _ changes: DemoValue = created
    ) async throws -> RawAnswer {
        try await gateway.http.send(
            "POST", GatewayStack.pushTarget(cursor), headers: GatewayStack.headers(), body: Array(changes.json.utf8))
    }

    private static func overrides(
        _ url: String, _ others: [String: String] = [:]
    ) -> [String: String] {
        // A schema of its own for each gateway.
        let schema = "s" + UUID().uuidString.replacing("-", with: "").lowercased()
        return ["state.url": url, "state.schema": schema, "state.statement_timeout": "30s"].merging(others) { $1 }
    }

    @Test func `it serves a device, and lets commands look at the state meanwhile`() async throws {
        let server = try await PostgresServer.shared()
        try await GatewayStack.withBackend { backend, directory in
            try await backend.edit(.put("tags", ["id": "t", "label": "x"]))
            try await GatewayProcess.with(
                backend: try await backend.url, directory: directory, overrides: Self.overrides(server.url())
            ) { gateway in
                #expect(try await gateway.http.send("GET", "/readyz").status == 200)
                let first = try PulledChanges(await Self.pull(gateway))
                #expect(first.created["tags"]?.keys.contains("t") == true)
                let idle = try PulledChanges(await Self.pull(gateway, first.cursor))
                #expect(idle.cursor == first.cursor && idle.isEmpty)
                try await backend.edit(.put("tags", ["id": "t", "label": "y"]))
                let second = try PulledChanges(await Self.pull(gateway, first.cursor))
                #expect(second.updated["tags"]?.keys.sorted() == ["t"])
                #expect(second.cursor > first.cursor)
                #expect(try await Self.push(gateway, second.cursor).status == 200)
                // The repetition gets the receipt, and the next pull no echo.
                #expect(try await Self.push(gateway, second.cursor).status == 200)
                let third = try PulledChanges(await Self.pull(gateway, second.cursor))
                #expect(third.created.isEmpty && third.deleted.isEmpty)
                gateway.send(SIGTERM)
                #expect(try await gateway.end() == 0)
                #expect(!gateway.log.contains("sslmode"))
            }
        }
    }

    @Test func `while PostgreSQL is away it answers 503 with a time to wait, and goes on by itself`() async throws {
        let server = try await PostgresServer.fresh()
        try await GatewayStack.withBackend { backend, directory in
            try await GatewayProcess.with(
                backend: try await backend.url, directory: directory,
                overrides: Self.overrides(server.url(), ["state.statement_timeout": "1s"])
            ) { gateway in
                let cursor = try PulledChanges(await Self.pull(gateway)).cursor
                try await server.stop("fast")
                let answer = try await Self.pull(gateway, cursor)
                #expect(answer.outcome == "503 state.unreachable")
                #expect(answer["Retry-After"] == "5")
                #expect(try await Self.push(gateway, cursor).outcome == "503 state.unreachable")
                #expect(try await gateway.http.send("GET", "/readyz").status == 503)
                let line = try await gateway.line(with: "the state fails")
                #expect(line.contains(#""code":"state.unreachable""#))
                try await server.start()
                try await eventually { try await gateway.http.send("GET", "/readyz").status == 200 }
                try await backend.edit(.put("tags", ["id": "later", "label": "x"]))
                let next = try PulledChanges(await Self.pull(gateway, cursor))
                #expect(next.created["tags"]?.keys.sorted() == ["later"])
                #expect(try await Self.push(gateway, next.cursor).status == 200)
            }
        }
        try await server.stop("immediate")
    }

    @Test func `a name that stands for two sessions of the backend loses nothing at two gateways either`() async throws
    {
        let server = try await PostgresServer.shared()
        try await GatewayStack.withBackend { backend, directory in
            var seed = DemoSeed()
            (seed.projects, seed.tasks, seed.comments, seed.tags, seed.taskTags) = (2, 10, 4, 2, 0)
            try await backend.seed(seed)
            let overrides = Self.overrides(
                server.url(), ["identity.session": "header:x-device", "pull.repeat_window": "0s"])
            let second = directory + "/second"
            try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: true)
            try await GatewayProcess.with(
                backend: try await backend.url, directory: directory, overrides: overrides
            ) { one in
                try await GatewayProcess.with(
                    backend: try await backend.url, directory: second, overrides: overrides
                ) { other in
                    func pull(_ gateway: GatewayProcess, _ cursor: Int64?, _ token: String) async throws -> RawAnswer {
                        try await gateway.http.send(
                            "GET", GatewayStack.pullTarget(cursor, version: 2),
                            headers: GatewayStack.headers(token, ["X-Device": "phone"]))
                    }
                    let first = try PulledChanges(await pull(one, nil, "device-a")).cursor
                    try await backend.edit(.put("projects", ["id": "p-new", "name": "new"]))
                    let next = try PulledChanges(await pull(one, first, "device-a")).cursor
                    _ = try await pull(one, next, "device-a")
                    // Another session of the backend stores its position, at the other gateway.
                    _ = try await pull(other, first, "device-b")
                    #expect(try await pull(one, first, "device-a").text.contains("p-new"))
                }
            }
        }
    }

    /// What decides how often a sync waits for the database.
    enum Way: String, CaseIterable, Sendable {
        /// The backend keeps the checkpoints: a pull needs a lease, and their move is noted before it is asked for.
        case server
        /// The gateway keeps them, and a pull needs a lease because ids have two parts.
        case request
        /// The gateway keeps them, and a pull needs no lease.
        case withoutLease

        /// The most round trips of a sync.
        var most: (first: Int, idle: Int, warm: Int, cold: Int, push: Int) {
            switch self {
            case .server: (3, 2, 2, 3, 3)
            case .request: (2, 2, 2, 2, 3)
            case .withoutLease: (2, 1, 3, 3, 3)
            }
        }

        var configuration: String {
            get throws {
                switch self {
                case .server: return try StackConfiguration.quickstart()
                case .request: return try StackConfiguration.withRequestCheckpoints()
                case .withoutLease:
                    let text = try StackConfiguration.withRequestCheckpoints()
                    let end = try #require(text.range(of: "[table task_tags]"))
                    return String(text[..<end.lowerBound])
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `a sync waits as few times for the database as it did`(_ way: Way) async throws {
        let server = try await PostgresServer.shared()
        try await ServerProxy.with(to: server.port) { proxy in
            try await GatewayStack.withBackend { backend, directory in
                try await backend.edit(.put("tags", ["id": "t", "label": "x"]))
                try await GatewayProcess.with(
                    backend: try await backend.url, directory: directory,
                    overrides: Self.overrides(
                        server.url(port: proxy.port), ["identity.principal": "bearer", "identity.auth_ttl": "1h"]),
                    configuration: try way.configuration
                ) { gateway in
                    var cursor = try PulledChanges(await Self.pull(gateway)).cursor
                    func trips(_ sync: () async throws -> Void) async throws -> Int {
                        let before = proxy.roundTrips
                        try await sync()
                        return proxy.roundTrips - before
                    }
                    // The tidying at the start, and what is stored beside, take some of their own: the fewest count.
                    var idle = Int.max
                    for _ in 0..<20 {
                        idle = min(idle, try await trips { _ = try await Self.pull(gateway, cursor) })
                    }
                    func changed() async throws -> [Int] {
                        var counts: [Int] = []
                        for label in ["a", "b", "c"] {
                            try await backend.edit(.put("tags", ["id": "t", "label": .string(label)]))
                            counts.append(
                                try await trips { cursor = try PulledChanges(await Self.pull(gateway, cursor)).cursor })
                        }
                        return counts
                    }
                    let warm = try await changed()
                    var pushes: [Int] = []
                    for id in ["p", "q", "r"] {
                        let changes: DemoValue = .changes("tags", created: [["id": .string(id), "label": "new"]])
                        var status = 0
                        pushes.append(
                            try await trips { status = try await Self.push(gateway, cursor, changes).status })
                        #expect(status == 200)
                    }
                    var first = Int.max
                    for _ in 0..<3 {
                        first = min(first, try await trips { _ = try await Self.pull(gateway, token: "bob-token") })
                    }
                    print(
                        "cost: round trips, \(way): first \(first), idle \(idle), "
                            + "with changes \(warm), pushes \(pushes)")
                    let most = way.most
                    #expect(first <= most.first)
                    #expect(idle <= most.idle)
                    #expect(warm.min().map { $0 <= most.warm } == true)
                    // The first one also notes the schema version that it shows, once for each update of an app.
                    #expect(pushes.dropFirst().min().map { $0 <= most.push } == true)
                }
            }
        }
    }
    @Test(arguments: Way.allCases)
    func `a gateway that does not know a device waits at most once more`(_ way: Way) async throws {
        let server = try await PostgresServer.shared()
        try await ServerProxy.with(to: server.port) { proxy in
            try await GatewayStack.withBackend { backend, directory in
                let overrides = Self.overrides(
                    server.url(port: proxy.port), ["identity.principal": "bearer", "identity.auth_ttl": "1h"])
                let configuration = try way.configuration
                let (url, second) = (try await backend.url, directory + "/second")
                try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: true)
                try await GatewayProcess.with(
                    backend: url, directory: directory, overrides: overrides, configuration: configuration
                ) { one in
                    try await GatewayProcess.with(
                        backend: url, directory: second, overrides: overrides, configuration: configuration
                    ) { other in
                        var cursor = try PulledChanges(await Self.pull(one)).cursor
                        // What the gateways do beside takes some of their own: the fewest count.
                        var counts: [Int] = []
                        for round in 0..<8 {
                            try await backend.edit(.put("tags", ["id": "t", "label": .string("\(round)")]))
                            let before = proxy.roundTrips
                            cursor = try PulledChanges(
                                await Self.pull(round % 2 == 0 ? other : one, cursor)
                            ).cursor
                            counts.append(proxy.roundTrips - before)
                        }
                        print("cost: round trips, \(way), cold: \(counts)")
                        #expect(counts.min().map { $0 <= way.most.cold } == true)
                    }
                }
            }
        }
    }
}
