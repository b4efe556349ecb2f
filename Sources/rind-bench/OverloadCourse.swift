// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// Runs the servers of ``Overload`` and measures them.
final class OverloadCourse {
    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case refused(statuses: [Int: Int], output: String)
        case wrong(count: Int, example: String)

        var description: String {
            switch self {
            case .refused(let statuses, let output):
                "rind answered \(statuses.map { "\($0.value) times \($0.key)" }.sorted().joined(separator: ", ")) "
                    + "without overload; its last words:\n\(output)"
            case .wrong(let count, let example):
                "\(count) answers have another content than they must have; one begins with\n\(example)"
            }
        }
    }

    /// The number of pulls that the gateway runs at a time by default, which the best rate is found with.
    static let pulls = 64
    private static let sizes = SmallScenario.Sizes(rows: 50, changes: 0)

    private let latency: Int
    private let connections: Int
    private let pair: GatewayPair
    private let requests = SmallRequests(.first, sizes: sizes, callers: 1)
    private var gateway: ServerProcess { pair.gateway }

    /// Starts a backend with a latency in milliseconds and the gateway, with their files in `directory`.
    init(latency: Int, connections: Int, directory: URL) async throws {
        self.latency = latency
        self.connections = connections
        pair = try await GatewayPair(
            stream: ["--rows", "\(Self.sizes.rows)", "--latency", "\(latency)"], directory: directory)
    }

    /// Ends all servers.
    func stop() async { await pair.stop() }

    /// Finds the best rate and offers multiples of it, in turns: what else runs on the machine changes with time.
    func measure(for time: TimeAmount, runs: Int) async throws -> OverloadReport.Section {
        var section = OverloadReport.Section(latency: latency)
        Text.note("a backend of \(latency) ms: to warm up")
        _ = try await bestRate(for: time)
        for run in 1...runs {
            Text.note("a backend of \(latency) ms: run \(run) of \(runs)")
            var turn = OverloadReport.Turn(best: try await bestRate(for: time))
            for factor in OverloadReport.factors {
                turn.rounds.append(try await offer(turn.best, times: factor, for: time))
            }
            section.turns.append(turn)
        }
        return section
    }

    private func bestRate(for time: TimeAmount) async throws -> Double {
        let client = LoadClient(port: gateway.port, connections: Self.pulls, callers: Self.pulls)
        let outcome = try await client.run(for: time, requests.course)
        // Pulls of the round before may still run, and take permits.
        guard outcome.statuses.keys.allSatisfy({ $0 == 200 || $0 == 503 }) else {
            throw Failure.refused(statuses: outcome.statuses, output: gateway.lastWords)
        }
        guard outcome.wrong.count == 0 else {
            throw Failure.wrong(count: outcome.wrong.count, example: outcome.wrong.example)
        }
        return Double(outcome.statuses[200] ?? 0) / (outcome.wall / .seconds(1))
    }

    private func offer(_ best: Double, times factor: Double, for time: TimeAmount) async throws -> OverloadReport.Round
    {
        let processor = gateway.processorSeconds
        let client = ArrivalClient(port: gateway.port, connections: connections)
        let outcome = try await client.run(perSecond: best * factor, for: time, requests.course)
        guard outcome.wrong.count == 0 else {
            throw Failure.wrong(count: outcome.wrong.count, example: outcome.wrong.example)
        }
        let seconds = outcome.wall / .seconds(1)
        func answers(_ kind: LoadAnswer.Kind) -> OverloadReport.Answers {
            let latencies = Latencies(outcome.latencies[kind] ?? [])
            return OverloadReport.Answers(
                perSecond: Double(outcome.latencies[kind]?.count ?? 0) / seconds, median: latencies.milliseconds(0.5),
                percentile99: latencies.milliseconds(0.99))
        }
        return OverloadReport.Round(
            factor: factor, offered: best * factor, sent: Double(outcome.sent) / seconds, done: answers(.done),
            putOff: answers(.putOff), refused: answers(.refused), unanswered: outcome.unanswered,
            statuses: outcome.statuses,
            processors: processor.flatMap { before in gateway.processorSeconds.map { ($0 - before) / seconds } })
    }
}
