// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import NIOCore
import PostgresState
import PostgresTesting
import SQLiteState
import StateStore

/// Runs the servers of ``State`` and measures them in turns.
final class StateCourse {
    /// The stores that are compared.
    enum Store: CaseIterable {
        case sqlite, postgres

        /// The store's name in tables.
        var name: String { self == .sqlite ? "SQLite" : "PostgreSQL" }
    }

    /// A gateway and its state.
    private final class Stage {
        let gateway: MeasuredGateway
        let store: Store
        let requests = SmallRequests(.idle, sizes: sizes, callers: callers)
        let newcomers = SmallRequests(.first, sizes: sizes, callers: callers)
        var figures: StateReport.Size

        init(_ gateway: MeasuredGateway, _ store: Store, replicas: Int) {
            self.gateway = gateway
            self.store = store
            figures = StateReport.Size(store: store.name, replicas: replicas, bytes: 0)
        }
    }

    /// The number of callers, and of connections that they share when pulls a second are counted.
    private static let callers = 256
    private static let connections = 32
    /// The records of a replica, which make its ledger.
    private static let sizes = SmallScenario.Sizes(rows: 10, changes: 0)

    private let directory: URL
    private var backend: ServerProcess?
    private var database: PostgresServer?
    private var stages: [Stage] = []

    init(directory: URL) { self.directory = directory }

    /// Ends all servers but PostgreSQL, which ends with this process.
    func stop() async {
        for stage in stages { await stage.gateway.stop() }
        await backend?.stop()
    }

    /// Makes all states and measures them in turns; the first turn is not measured.
    func measure(sizes: [Int], runs: Int, for time: TimeAmount) async throws -> StateReport {
        var report = StateReport(callers: Self.callers, connections: Self.connections, machine: Machine.current)
        var stores = Store.allCases
        if PostgresServer.isInstalled {
            database = try await PostgresServer.fresh(isDurable: true)
        } else {
            report.notes.append("PostgreSQL is not installed: there is no comparison (apt-get install postgresql).")
            stores = [.sqlite]
        }
        try await startBackend()
        for store in stores {
            for replicas in sizes { try await addStage(store, replicas: replicas) }
        }
        for stage in stages { try await stage.gateway.start() }
        let small = stores.compactMap { store in stages.first { $0.store == store } }
        report.ways = [StateReport.Way(name: "passed through")] + stores.map { StateReport.Way(name: $0.name) }
        for run in 0...runs {
            Text.note(run == 0 ? "idle pulls: to warm up" : "idle pulls: run \(run) of \(runs)")
            let passed = try await measure(small[0], with: small[0].requests.otherCourse, for: time)
            if run > 0 { report.ways[0].samples.append(passed) }
            for (index, stage) in small.enumerated() {
                let sample = try await measure(stage, with: stage.requests.course, for: time)
                if run > 0 { report.ways[index + 1].samples.append(sample) }
            }
        }
        for run in 0...runs {
            Text.note(run == 0 ? "look-ups and commits: to warm up" : "look-ups and commits: run \(run) of \(runs)")
            for stage in stages {
                let lookups = try await measure(stage, with: stage.requests.course, connections: 1, for: time)
                let commits = try await measure(stage, with: stage.newcomers.course, connections: 1, for: time)
                guard run > 0 else { continue }
                stage.figures.lookups.append(lookups)
                stage.figures.commits.append(commits)
            }
        }
        report.sizes = stages.map(\.figures)
        return report
    }

    private func startBackend() async throws {
        let port = try await ServerProcess.freePort()
        backend = try ServerProcess(
            "backend", executable: Tools.own,
            arguments: ["serve-stream", "--rows", "\(Self.sizes.rows)", "--changes", "0", "--port", "\(port)"],
            port: port, directory: directory)
        try await backend?.waitUntilReady()
    }

    /// Makes a state with the replicas of all callers, and with copies of one of them.
    private func addStage(_ store: Store, replicas: Int) async throws {
        guard let backend else { return }
        let port = try await ServerProcess.freePort()
        let name = "\(store)-\(replicas)"
        let (file, schema) = (directory.appendingPathComponent("\(name).db"), "replicas_\(replicas)")
        var configuration = GatewayBaseline.idle(port: port, backendPort: backend.port, state: file)
        if store == .postgres, let database {
            configuration.replace(
                "url = sqlite:\(file.path)", with: "url = \(database.url())\nschema = \(schema)", maxReplacements: 1)
        }
        let stage = Stage(
            try MeasuredGateway(name, port: port, configuration: configuration, directory: directory), store,
            replicas: replicas)
        stages.append(stage)
        try await stage.gateway.start()
        for course in [stage.requests.firstPulls, stage.requests.course] {
            try await stage.gateway.load(course, connections: Self.connections, callers: Self.callers, for: nil)
        }
        await stage.gateway.stop()
        Text.note("\(store.name): making \(Text.grouped(replicas)) replicas")
        if store == .postgres, let database {
            var options = PostgresStateStore.Options(conninfo: database.conninfo())
            options.schema = schema
            let bytes = try await PostgresStateStore.openBytes(options, creates: false, logger: Logger(label: "bench"))
            stage.figures.replicas = try await StateGrowth(bytes).grow(to: replicas)
            await bytes.close()
            let size = try await database.query(
                """
                ANALYZE; CHECKPOINT;
                SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
                    WHERE c.relnamespace = '\(schema)'::regnamespace AND c.relkind = 'r'
                """)
            stage.figures.bytes = size.split(separator: "\n").last.flatMap { Int($0) } ?? 0
        } else {
            let bytes = try await SQLiteStateStore.openBytes(path: file.path, creates: false)
            stage.figures.replicas = try await StateGrowth(bytes).grow(to: replicas)
            await bytes.close()
            stage.figures.bytes = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        }
    }

    private func measure(
        _ stage: Stage, with course: LoadClient.Course, connections: Int = connections, for time: TimeAmount
    ) async throws -> StateReport.Sample {
        let before = (stage.gateway.processorSeconds, database?.processorSeconds)
        let outcome = try await stage.gateway.load(
            course, connections: connections, callers: Self.callers, for: time)
        let count = Double(max(outcome.latencies.count, 1))
        func cost(_ before: Double?, _ now: Double?) -> Double? {
            before.flatMap { before in now.map { ($0 - before) * 1e6 / count } }
        }
        let latencies = Latencies(outcome.latencies)
        return StateReport.Sample(
            requestsPerSecond: count / (outcome.wall / .seconds(1)), median: latencies.milliseconds(0.5),
            percentile99: latencies.milliseconds(0.99),
            gatewayMicroseconds: cost(before.0, stage.gateway.processorSeconds),
            databaseMicroseconds: stage.store == .postgres ? cost(before.1, database?.processorSeconds) : nil)
    }
}
