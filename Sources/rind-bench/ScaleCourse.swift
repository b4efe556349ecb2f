// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1

/// Runs the servers of ``Scale`` and measures them in turns.
final class ScaleCourse {
    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case noGateway
        case refused(name: String, statuses: [Int: Int], wrong: String, output: String)
        case neverReady(name: String, output: String)

        var description: String {
            switch self {
            case .noGateway:
                "rind is not beside rind-bench: build it with 'swift build -c release --product rind'"
            case .refused(let name, let statuses, let wrong, let output):
                "\(name) answered \(statuses.map { "\($0.value) times \($0.key)" }.sorted().joined(separator: ", ")); "
                    + "\(wrong)its last words:\n\(output)"
            case .neverReady(let name, let output): "\(name) does not become ready; its last words:\n\(output)"
            }
        }
    }

    /// The number of callers, and of connections that they share.
    static let callers = 256
    private static let connections = 32
    /// The records of a replica, which make its ledger.
    private static let sizes = SmallScenario.Sizes(rows: 10, changes: 0)

    /// A gateway and its state.
    private final class Stage {
        let name: String
        let state: URL
        let port: Int
        let configuration: String
        var server: ServerProcess?
        var figures: ScaleReport.State

        init(_ name: String, state: URL, port: Int, configuration: String, replicas: Int) {
            self.name = name
            self.state = state
            self.port = port
            self.configuration = configuration
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
        for stage in stages { await stage.server?.stop() }
        await backend?.stop()
    }

    /// Makes both states and measures them in turns; the first turn is not measured.
    func measure(few: Int, many: Int, runs: Int, for time: TimeAmount) async throws -> ScaleReport {
        let machine = Machine.current
        try await makeStates(few: few, many: many)
        for stage in stages { stage.server = try await start(stage).server }
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

    /// Makes the state of the callers with a gateway, and copies of their replicas by SQL.
    private func makeStates(few: Int, many: Int) async throws {
        let port = try await ServerProcess.freePort()
        backend = try ServerProcess(
            "backend", executable: Tools.own,
            arguments: ["serve-stream", "--rows", "\(Self.sizes.rows)", "--changes", "0", "--port", "\(port)"],
            port: port, directory: directory)
        try await backend?.waitUntilReady()
        let small = try await add("few", replicas: few, backendPort: port)
        small.server = try await start(small).server
        for course in [requests.firstPulls, requests.course] { try await load(small, course, for: nil) }
        await small.server?.stop()
        let large = try await add("many", replicas: many, backendPort: port)
        try FileManager.default.copyItem(at: small.state, to: large.state)
        for stage in stages {
            Text.note("making \(Text.grouped(stage.figures.replicas)) replicas")
            stage.figures.replicas = try ReplicaGrowth(path: stage.state.path).grow(to: stage.figures.replicas)
            stage.figures.bytes =
                try FileManager.default.attributesOfItem(atPath: stage.state.path)[.size] as? Int ?? 0
        }
    }

    private func add(_ name: String, replicas: Int, backendPort: Int) async throws -> Stage {
        let port = try await ServerProcess.freePort()
        let (state, file) = (
            directory.appendingPathComponent("\(name).db"), directory.appendingPathComponent("\(name).ini")
        )
        try GatewayBaseline.idle(port: port, backendPort: backendPort, state: state)
            .write(to: file, atomically: true, encoding: .utf8)
        let stage = Stage(name, state: state, port: port, configuration: file.path, replicas: replicas)
        stages.append(stage)
        return stage
    }

    /// Starts a gateway; returns the time until it says that it is ready.
    private func start(_ stage: Stage) async throws -> (server: ServerProcess, time: Duration) {
        guard let rind = Tools.rind else { throw Failure.noGateway }
        let clock = ContinuousClock()
        let began = clock.now
        let server = try ServerProcess(
            stage.name, executable: rind, arguments: ["serve", "--config", stage.configuration], port: stage.port,
            directory: directory)
        stage.server = server
        while began.duration(to: clock.now) < .seconds(60) {
            let answer = try? await DrainClient().fetch(.GET, "/readyz", port: stage.port)
            if answer?.status == .ok { return (server, began.duration(to: clock.now)) }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw Failure.neverReady(name: stage.name, output: server.lastWords)
    }

    /// Kills a gateway behind the commits of some first syncs, which are in its log only, and starts it anew.
    private func measureStart(_ stage: Stage) async throws -> Double {
        try await load(stage, newcomers.course, for: nil)
        await stage.server?.stop(with: SIGKILL)
        let (server, time) = try await start(stage)
        stage.server = server
        // What it answers must be right.
        try await load(stage, requests.course, for: nil)
        return time / .milliseconds(1)
    }

    private func measurePulls(_ stage: Stage, for time: TimeAmount) async throws -> ScaleReport.Pulls {
        let before = stage.server?.processorSeconds
        let outcome = try await load(stage, requests.course, for: time)
        let count = Double(max(outcome.latencies.count, 1))
        let latencies = Latencies(outcome.latencies)
        return ScaleReport.Pulls(
            requestsPerSecond: count / (outcome.wall / .seconds(1)), median: latencies.milliseconds(0.5),
            percentile99: latencies.milliseconds(0.99),
            processorMicroseconds: before.flatMap { before in
                stage.server?.processorSeconds.map { ($0 - before) * 1e6 / count }
            })
    }

    @discardableResult
    private func load(
        _ stage: Stage, _ course: LoadClient.Course, for time: TimeAmount?
    ) async throws -> LoadClient.Outcome {
        let client = LoadClient(port: stage.port, connections: Self.connections, callers: Self.callers)
        let outcome = try await client.run(for: time, course)
        guard outcome.statuses.keys.allSatisfy({ $0 == 200 }), outcome.wrong.count == 0 else {
            throw Failure.refused(
                name: stage.name, statuses: outcome.statuses,
                wrong: outcome.wrong.count == 0 ? "" : "\(outcome.wrong.count) are wrong: \(outcome.wrong.example)\n",
                output: stage.server?.lastWords ?? "")
        }
        return outcome
    }
}
