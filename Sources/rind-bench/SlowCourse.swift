// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// Runs the servers of ``Slow`` and measures them.
final class SlowCourse {
    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case refused(statuses: [Int: Int], wrong: Int, output: String)
        case readers(any Error, output: String)

        var description: String {
            switch self {
            case .refused(let statuses, let wrong, let output):
                "rind answered \(statuses.map { "\($0.value) times \($0.key)" }.sorted().joined(separator: ", ")), "
                    + "\(wrong) of them wrong; its last words:\n\(output)"
            case .readers(let error, let output): "\(error); the gateway's last words:\n\(output)"
            }
        }
    }

    /// The time in which memory is given back after a peak.
    private static let trimming = Duration.seconds(20)
    /// The number of callers of idle pulls, each on a connection.
    private static let callers = 32

    private let clients: Int
    private let rows: Int
    private let pair: GatewayPair
    private let requests: SmallRequests
    private var gateway: ServerProcess { pair.gateway }

    /// Starts a backend and the gateway, with their files in `directory`.
    init(clients: Int, rows: Int, spoolMemory: String?, directory: URL) async throws {
        self.clients = clients
        self.rows = rows
        requests = SmallRequests(.idle, sizes: .init(rows: rows, changes: 0), callers: Self.callers)
        // Answers kept for a repeat would count as memory of the readers, or of the time before them.
        pair = try await GatewayPair(
            stream: ["--rows", "\(rows)", "--changes", "0"],
            settings: "\n[pull]\nrepeat_window = 0s\n"
                + (spoolMemory.map { "\n[spool]\nmemory_total = \($0)\n" } ?? ""), directory: directory)
    }

    /// Ends all servers.
    func stop() async { await pair.stop() }

    /// Measures idle pulls without slow readers and beside them, and what the readers take.
    func measure(for time: TimeAmount) async throws -> SlowReport {
        var report = SlowReport(clients: clients, rows: rows, machine: .current)
        _ = try await load(requests.firstPulls, for: nil)
        Text.note("idle pulls alone")
        _ = try await load(requests.course, for: time)
        report.alone = try await measurePulls(for: time)
        report.residentBefore = gateway.residentBytes
        let readers = SlowReaders(port: gateway.port, records: rows)
        do {
            try await measure(readers, for: time, &report)
        } catch {
            let output = gateway.lastWords
            await readers.close()
            throw Failure.readers(error, output: output)
        }
        await readers.close()
        try await Task.sleep(for: Self.trimming)
        report.residentAfter = gateway.residentBytes
        return report
    }

    private func measure(_ readers: SlowReaders, for time: TimeAmount, _ report: inout SlowReport) async throws {
        Text.note("\(Text.grouped(clients)) slow readers begin")
        let clock = ContinuousClock()
        let began = clock.now
        report.opened = try await readers.open(clients)
        report.beginSeconds = began.duration(to: clock.now) / .seconds(1)
        report.residentBegun = gateway.residentBytes
        // What the pulls have worked with is given back to the system after a while.
        try await Task.sleep(for: Self.trimming)
        report.residentWaiting = gateway.residentBytes
        Text.note("idle pulls beside them")
        let before = readers.figures
        report.putOff = before.putOff
        readers.read(.slow)
        report.beside = try await measurePulls(for: time)
        report.residentReading = gateway.residentBytes
        let after = readers.figures
        report.bytesPerSecond =
            Double(after.bytes - before.bytes) / Double(report.begun) / (Double(time.nanoseconds) / 1e9)
        report.wholeMeanwhile = after.whole
        Text.note("they read the rest")
        readers.read(.fast)
        try await readers.finish()
        report.putOff = readers.figures.putOff
        report.answerBytes = readers.figures.bytes / report.begun
        report.peakResident = gateway.peakResidentBytes
    }

    private func measurePulls(for time: TimeAmount) async throws -> SlowReport.Pulls {
        let outcome = try await load(requests.course, for: time)
        let latencies = Latencies(outcome.latencies)
        return SlowReport.Pulls(
            requestsPerSecond: Double(outcome.latencies.count) / (outcome.wall / .seconds(1)),
            median: latencies.milliseconds(0.5), percentile99: latencies.milliseconds(0.99))
    }

    private func load(_ course: LoadClient.Course, for time: TimeAmount?) async throws -> LoadClient.Outcome {
        let client = LoadClient(port: gateway.port, connections: Self.callers, callers: Self.callers)
        let outcome = try await client.run(for: time, course)
        guard outcome.statuses.keys.allSatisfy({ $0 == 200 }), outcome.wrong.count == 0 else {
            throw Failure.refused(
                statuses: outcome.statuses, wrong: outcome.wrong.count, output: gateway.lastWords)
        }
        return outcome
    }
}
