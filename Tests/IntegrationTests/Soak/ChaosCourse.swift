// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import PostgresTesting
import SyncModel

/// Three gateways on one state in PostgreSQL, under the load of many clients that sync through any of them.
///
/// Gateways get `kill -9` and are started again, stand still for longer than their leases last and go on, and PostgreSQL
/// is restarted; then all is quiet. What happens follows from the seed; what the gateways are doing in that moment does
/// not.
struct ChaosCourse {
    private static let users = 2
    private static let gateways = 3
    private static let events = 4
    /// The life of a lease, and how long a gateway stands still.
    private static let lease = 1
    private static let pause = Duration.milliseconds(1_800)
    /// How many milliseconds the backend takes for each call, so that syncs hold their leases for longer than they
    /// compute.
    private static let latency = 100
    /// How often a gateway that had no lease when it was stopped is stopped again.
    private static let pauses = 12

    private enum Event: CaseIterable { case kill, pause, restartDatabase }

    let server: PostgresServer
    private var course: KillCourse
    private var nodes: [GatewayProcess] = []
    private let overrides: [String: String]
    private(set) var log: [String] = []
    /// How many leases were taken over, and how many syncs have lost one, by the logs of all gateways.
    private(set) var takeovers = 0
    private(set) var losses = 0

    private init(_ course: KillCourse, _ server: PostgresServer, _ overrides: [String: String]) {
        self.course = course
        self.server = server
        self.overrides = overrides
    }

    var load: KillLoad { course.load }
    var report: String { "\(log.joined(separator: ", ")); \(course.report)" }

    /// Lives through a course and judges what is left.
    static func run(_ tables: FaultTables, seed: UInt64, on server: PostgresServer) async throws -> ChaosCourse {
        var options = try tables.options(["limits.pulls": "64"])
        options.backend.accounts = (0..<users).map { KillCourse.user($0).account }
        let overrides = options.overrides.merging([
            "state.url": server.url(), "state.schema": "chaos\(seed)x\(UInt32.random(in: 0 ... .max))",
            "state.lease": "\(lease)s", "state.statement_timeout": "10s", "limits.queue_wait": "5s",
        ]) { $1 }
        return try await GatewayStack.withBackend(options) { [options] backend, directory in
            // A backend whose answer was lost with its gateway makes a push's outcome unknown.
            let load = KillLoad(tolerating: [502])
            var chaos = ChaosCourse(
                KillCourse(tables, seed: seed, users: users, options, backend, directory, load: load), server,
                overrides)
            do {
                for number in 0..<gateways { chaos.nodes.append(try await chaos.start(number)) }
                try await chaos.live(seed)
                try await eventually { backend.requestsUnderWay == 0 }
                try await chaos.judge()
            } catch {
                for node in chaos.nodes {
                    node.send(SIGCONT)
                    try await node.kill()
                }
                throw error
            }
            for node in chaos.nodes {
                chaos.count(node)
                for defect in try GatewayWatch(node).defects().prefix(3) { load.fail("in the log: \(defect)") }
                try await node.kill()
            }
            return chaos
        }
    }

    private func start(_ number: Int) async throws -> GatewayProcess {
        let directory = "\(course.directory)/node\(number)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        return try await GatewayProcess.start(
            backend: try await course.backend.url, directory: directory, overrides: overrides,
            configuration: course.options.configuration)
    }

    /// Lets clients sync while something happens to the gateways and the database.
    private mutating func live(_ seed: UInt64) async throws {
        try await course.fill()
        try await course.syncAll(nodes[0])
        load.move(to: nodes.map(\.port))
        course.backend.inject(DemoFault(times: .max, action: .delay(Self.latency)))
        defer { course.backend.clearFaults() }
        let (course, clients) = (course, course.clients)
        var chaos = self
        let result = try await withThrowingTaskGroup(of: KillClient?.self) { group in
            for client in clients {
                group.addTask {
                    var client = client
                    try await client.run(course.load)
                    return client
                }
            }
            group.addTask {
                try await course.writeBeside()
                return nil
            }
            do {
                try await chaos.happen(seed)
            } catch {
                course.load.end()
                throw error
            }
            course.load.end()
            return try await group.reduce(into: [KillClient]()) { if let client = $1 { $0.append(client) } }
        }
        self = chaos
        self.course.clients = result
    }

    private mutating func happen(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for index in 0..<Self.events {
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...700, using: &random)))
            let number = Int.random(in: 0..<Self.gateways, using: &random)
            // One at least of each course has a gateway whose leases pass to others.
            let event = index == 0 ? .pause : Event.allCases.randomElement(using: &random) ?? .kill
            log.append(event == .restartDatabase ? "\(event)" : "\(event) \(number)")
            let others = nodes.indices.filter { $0 != number }.map { nodes[$0].port }
            switch event {
            case .kill:
                try await nodes[number].kill()
                load.move(to: others)
                count(nodes[number])
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_500, using: &random)))
                nodes[number] = try await start(number)
            case .pause: try await pause(number, others, atMost: index == 0 ? Self.pauses : 1)
            case .restartDatabase:
                try await server.stop(Bool.random(using: &random) ? "fast" : "immediate")
                try await server.start()
            }
            load.move(to: nodes.map(\.port))
        }
    }

    /// Lets a gateway stand still, so many times or until others have taken over a lease that it had.
    private func pause(_ number: Int, _ others: [Int], atMost times: Int) async throws {
        let before = lines(with: Self.takeover)
        for _ in 0..<times where lines(with: Self.takeover) == before {
            nodes[number].send(SIGSTOP)
            load.move(to: others)
            try await Task.sleep(for: Self.pause)
            nodes[number].send(SIGCONT)
            load.move(to: nodes.map(\.port))
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Lets all clients sync: for what is in conflict, and for what others have pushed meanwhile; then compares.
    private mutating func judge() async throws {
        for node in nodes where !node.isRunning {
            load.fail("a gateway has ended by itself: \(node.log.suffix(2_000))")
        }
        for round in 0..<3 { try await course.syncAll(nodes[round % nodes.count]) }
        try await course.judge(nodes[0])
    }

    private static let takeover = #""code":"state.lease_taken_over""#

    private mutating func count(_ node: GatewayProcess) {
        takeovers += Self.lines(of: node, with: Self.takeover)
        losses += Self.lines(of: node, with: #""message":"a sync has lost its lease"#)
    }

    private func lines(with text: String) -> Int { nodes.reduce(0) { $0 + Self.lines(of: $1, with: text) } }

    private static func lines(of node: GatewayProcess, with text: String) -> Int {
        node.log.split(separator: "\n").count { $0.contains(text) }
    }
}
