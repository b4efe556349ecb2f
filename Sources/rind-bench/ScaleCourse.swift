// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1
import SQLiteState
import StateStore

/// Runs the servers of ``Scale`` and measures them in turns.
final class ScaleCourse {
    /// The number of callers, and of connections that they share.
    static let callers = 256
    private static let connections = 32
    /// The records of a replica, which make its ledger.
    private static let sizes = SmallScenario.Sizes(rows: 10, changes: 0)

    /// A gateway and its state.
    private final class Stage {
        let gateway: MeasuredGateway
        let state: URL
        var figures: ScaleReport.State

        init(_ gateway: MeasuredGateway, state: URL, replicas: Int) {
            self.gateway = gateway
            self.state = state
            figures = ScaleReport.State(replicas: replicas, bytes: 0)
        }
    }

    private let directory: URL
    private let requests = SmallRequests(.idle, sizes: sizes, callers: callers)
    private let newcomers = SmallRequests(.first, sizes: sizes, callers: callers)
    private var backend: ServerProcess?
    private var stages: [Stage] = []

    init(directory: URL) { self.directory = directory }

    /// Ends all servers.
    func stop() async {
        for stage in stages { await stage.gateway.stop() }
        await backend?.stop()
    }

    /// Makes both states and measures them in turns; the first turn is not measured.
    func measure(few: Int, many: Int, runs: Int, for time: TimeAmount) async throws -> ScaleReport {
        let machine = Machine.current
        try await makeStates(few: few, many: many)
        for stage in stages { try await stage.gateway.start() }
        for run in 0...runs {
            Text.note(run == 0 ? "idle pulls: to warm up" : "idle pulls: run \(run) of \(runs)")
            for stage in stages {
                let pulls = try await measurePulls(stage, for: time)
                if run > 0 { stage.figures.pulls.append(pulls) }
            }
        }
        for run in 1...runs {
            Text.note("killed and started: run \(run) of \(runs)")
            for stage in stages { stage.figures.readyMilliseconds.append(try await measureStart(stage)) }
        }
        return ScaleReport(callers: Self.callers, machine: machine, states: stages.map(\.figures))
    }

    /// Makes the state of the callers with a gateway, and copies of their replicas.
    private func makeStates(few: Int, many: Int) async throws {
        let port = try await ServerProcess.freePort()
        backend = try ServerProcess(
            "backend", executable: Tools.own,
            arguments: ["serve-stream", "--rows", "\(Self.sizes.rows)", "--changes", "0", "--port", "\(port)"],
            port: port, directory: directory)
        try await backend?.waitUntilReady()
        let small = try await add("few", replicas: few, backendPort: port)
        try await small.gateway.start()
        for course in [requests.firstPulls, requests.course] { try await load(small, course, for: nil) }
        await small.gateway.stop()
        let large = try await add("many", replicas: many, backendPort: port)
        try FileManager.default.copyItem(at: small.state, to: large.state)
        for stage in stages {
            Text.note("making \(Text.grouped(stage.figures.replicas)) replicas")
            let bytes = try await SQLiteStateStore.openBytes(path: stage.state.path, creates: false)
            stage.figures.replicas = try await StateGrowth(bytes).grow(to: stage.figures.replicas)
            await bytes.close()
            stage.figures.bytes =
                try FileManager.default.attributesOfItem(atPath: stage.state.path)[.size] as? Int ?? 0
        }
    }

    private func add(_ name: String, replicas: Int, backendPort: Int) async throws -> Stage {
        let port = try await ServerProcess.freePort()
        let state = directory.appendingPathComponent("\(name).db")
        let gateway = try MeasuredGateway(
            name, port: port, configuration: GatewayBaseline.idle(port: port, backendPort: backendPort, state: state),
            directory: directory)
        let stage = Stage(gateway, state: state, replicas: replicas)
        stages.append(stage)
        return stage
    }

    /// Kills a gateway behind the commits of some first syncs, which are in its log only, and starts it anew.
    private func measureStart(_ stage: Stage) async throws -> Double {
        try await load(stage, newcomers.course, for: nil)
        await stage.gateway.stop(with: SIGKILL)
        let time = try await stage.gateway.start()
        // What it answers must be right.
        try await load(stage, requests.course, for: nil)
        return time / .milliseconds(1)
    }

    private func measurePulls(_ stage: Stage, for time: TimeAmount) async throws -> ScaleReport.Pulls {
        let before = stage.gateway.processorSeconds
        let outcome = try await load(stage, requests.course, for: time)
        let count = Double(max(outcome.latencies.count, 1))
        let latencies = Latencies(outcome.latencies)
        return ScaleReport.Pulls(
            requestsPerSecond: count / (outcome.wall / .seconds(1)), median: latencies.milliseconds(0.5),
            percentile99: latencies.milliseconds(0.99),
            processorMicroseconds: before.flatMap { before in
                stage.gateway.processorSeconds.map { ($0 - before) * 1e6 / count }
            })
    }

    @discardableResult
    private func load(
        _ stage: Stage, _ course: LoadClient.Course, for time: TimeAmount?
    ) async throws -> LoadClient.Outcome {
        try await stage.gateway.load(course, connections: Self.connections, callers: Self.callers, for: time)
    }
}
