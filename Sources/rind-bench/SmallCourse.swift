// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1

/// Runs the servers of one scenario of ``Small`` and measures them in turns.
final class SmallCourse {
    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case refused(name: String, statuses: [Int: Int], output: String)
        case wrong(name: String, count: Int, example: String)
        case wrongOperations(name: String, found: Int, expected: Int)
        case noFigure(String)

        var description: String {
            switch self {
            case .refused(let name, let statuses, let output):
                "\(name) answered \(statuses.map { "\($0.value) times \($0.key)" }.sorted().joined(separator: ", ")); "
                    + "its last words:\n\(output)"
            case .wrong(let name, let count, let example):
                "\(count) answers of \(name) have another content than they must have; one begins with\n\(example)"
            case .wrongOperations(let name, let found, let expected):
                "the backend got \(found) operations from \(name) instead of \(expected)"
            case .noFigure(let name): "\(name) does not say how many operations it got"
            }
        }
    }

    /// The data of one course: what is measured, and with how many.
    struct Plan {
        var scenario: SmallScenario
        var sizes: SmallScenario.Sizes
        var connections: Int
        var callers: Int
    }

    /// One server, and the requests that it gets.
    final class Contestant {
        let name: String
        let version: String
        let server: ServerProcess
        let requests: SmallRequests
        /// True if the server gets the calls of a gateway, to pass them through.
        let isPassing: Bool
        fileprivate(set) var samples: [SmallReport.Sample] = []

        init(_ name: String, _ server: ServerProcess, version: String, requests: SmallRequests, isPassing: Bool = false)
        {
            self.name = name
            self.version = version
            self.server = server
            self.requests = requests
            self.isPassing = isPassing
        }
    }

    let plan: Plan
    let directory: URL
    let backend: ServerProcess
    var contestants: [Contestant] = []
    var notes: [String] = []

    /// Starts every server that is installed, with its files in `directory`; each missing one becomes a note.
    init(_ plan: Plan, directory: URL, other: String?) async throws {
        self.plan = plan
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let port = try await ServerProcess.freePort()
        backend = try ServerProcess(
            "backend", executable: Tools.own,
            arguments: [
                "serve-stream", "--rows", "\(plan.sizes.rows)", "--changes", "\(plan.sizes.changes)", "--port",
                "\(port)",
            ],
            port: port, directory: directory)
        do {
            try await backend.waitUntilReady()
            try await addNginx()
            try await addGateway("rind", Tools.rind)
            if let other { try await addGateway("other", other) }
            if plan.scenario.hasNode { try await addNode() }
            for contestant in contestants { try await contestant.server.waitUntilReady() }
        } catch {
            await stop()
            throw error
        }
    }

    /// Ends all servers.
    func stop() async {
        for contestant in contestants { await contestant.server.stop() }
        await backend.stop()
    }

    /// Measures in turns, after each caller has made its first pull; the first turn is not measured.
    func measure(for time: TimeAmount, runs: Int) async throws -> SmallReport.Section {
        for contestant in contestants where !contestant.isPassing && plan.scenario != .first {
            _ = try await load(contestant, contestant.requests.firstPulls, for: nil)
        }
        for run in 0...runs {
            Text.note("\(plan.scenario.rawValue): " + (run == 0 ? "to warm up" : "run \(run) of \(runs)"))
            for contestant in contestants {
                let sample = try await measure(contestant, for: time)
                if run > 0 { contestant.samples.append(sample) }
            }
            contestants.append(contestants.removeFirst())
        }
        return SmallReport.Section(
            scenario: plan.scenario, title: plan.scenario.title(plan.sizes), connections: plan.connections,
            callers: plan.callers,
            ways: contestants.sorted { $0.name < $1.name }
                .map { SmallReport.Way(name: $0.name, version: $0.version, samples: $0.samples) })
    }

    private func measure(_ contestant: Contestant, for time: TimeAmount) async throws -> SmallReport.Sample {
        let operations = plan.scenario == .push ? try await pushedOperations() : 0
        let (processor, switches) = (contestant.server.processorSeconds, contestant.server.contextSwitches)
        let requests = contestant.requests
        let outcome = try await load(
            contestant, contestant.isPassing ? requests.passedCourse : requests.course, for: time)
        let count = Double(max(outcome.latencies.count, 1))
        let latencies = Latencies(outcome.latencies)
        let sample = SmallReport.Sample(
            requestsPerSecond: count / (outcome.wall / .seconds(1)), median: latencies.milliseconds(0.5),
            percentile99: latencies.milliseconds(0.99), percentile999: latencies.milliseconds(0.999),
            processorMicroseconds: processor.flatMap { before in
                contestant.server.processorSeconds.map { ($0 - before) * 1e6 / count }
            },
            switches: switches.flatMap { before in
                contestant.server.contextSwitches.map { Double($0 - before) / count }
            })
        if plan.scenario == .push {
            let (found, expected) = (
                try await pushedOperations() - operations, outcome.latencies.count * SmallPush.size
            )
            guard found == expected else {
                throw Failure.wrongOperations(name: contestant.name, found: found, expected: expected)
            }
        }
        return sample
    }

    private func load(
        _ contestant: Contestant, _ course: LoadClient.Course, for time: TimeAmount?
    ) async throws -> LoadClient.Outcome {
        let client = LoadClient(port: contestant.server.port, connections: plan.connections, callers: plan.callers)
        let outcome = try await client.run(for: time, course)
        guard outcome.statuses.keys.allSatisfy({ $0 == 200 }) else {
            throw Failure.refused(
                name: contestant.name, statuses: outcome.statuses, output: contestant.server.lastWords)
        }
        guard outcome.wrong.count == 0 else {
            throw Failure.wrong(name: contestant.name, count: outcome.wrong.count, example: outcome.wrong.example)
        }
        return outcome
    }

    /// Returns the number of operations that the backend got so far.
    private func pushedOperations() async throws -> Int {
        let answer = try await DrainClient().fetch(.GET, "/operations", port: backend.port)
        guard let operations = answer.cursor else { throw Failure.noFigure(backend.name) }
        return operations
    }
}
