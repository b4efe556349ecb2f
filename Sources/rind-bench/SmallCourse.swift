// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// Runs the servers of ``Small`` and measures them in turns.
final class SmallCourse {
    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case refused(name: String, statuses: [Int: Int], output: String)

        var description: String {
            switch self {
            case .refused(let name, let statuses, let output):
                "\(name) answered \(statuses.map { "\($0.value) times \($0.key)" }.sorted().joined(separator: ", ")); "
                    + "its last words:\n\(output)"
            }
        }
    }

    /// One server, and the requests that it gets.
    private final class Contestant {
        let name: String
        let version: String
        let server: ServerProcess
        let next: LoadClient.NextRequest
        var samples: [SmallReport.Sample] = []

        init(
            _ name: String, _ server: ServerProcess, version: String, next: @escaping LoadClient.NextRequest
        ) {
            self.name = name
            self.version = version
            self.server = server
            self.next = next
        }
    }

    private let connections: Int
    private let callers: Int
    private let directory: URL
    private let backend: ServerProcess
    private var contestants: [Contestant] = []
    private var notes: [String] = []

    /// Starts every server that is installed; each missing one becomes a note.
    init(connections: Int, callers: Int, directory: URL, other: String?) async throws {
        self.connections = connections
        self.callers = callers
        self.directory = directory
        let port = try await ServerProcess.freePort()
        backend = try ServerProcess(
            "backend", executable: Tools.own, arguments: ["serve-stream", "--rows", "50", "--port", "\(port)"],
            port: port, directory: directory)
        do {
            try await backend.waitUntilReady()
            try await addNginx()
            try await addGateway("rind", Tools.rind)
            if let other { try await addGateway("other", other) }
            try await addNode()
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

    /// Measures idle pulls in turns, after each caller has made its first sync; the first turn is not measured.
    func measure(for time: TimeAmount, runs: Int) async throws -> SmallReport {
        for contestant in contestants { _ = try await load(contestant, for: nil) }
        for run in 0...runs {
            Text.note(run == 0 ? "to warm up" : "run \(run) of \(runs)")
            for contestant in contestants {
                let sample = try await measure(contestant, for: time)
                if run > 0 { contestant.samples.append(sample) }
            }
            contestants.append(contestants.removeFirst())
        }
        return SmallReport(
            connections: connections, callers: callers, machine: .current, notes: notes,
            ways: contestants.sorted { $0.name < $1.name }
                .map { SmallReport.Way(name: $0.name, version: $0.version, samples: $0.samples) })
    }

    private func measure(_ contestant: Contestant, for time: TimeAmount) async throws -> SmallReport.Sample {
        let (processor, switches) = (contestant.server.processorSeconds, contestant.server.contextSwitches)
        let outcome = try await load(contestant, for: time)
        let count = Double(max(outcome.latencies.count, 1))
        let sorted = outcome.latencies.sorted()
        func percentile(_ share: Double) -> Double {
            sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1_000
        }
        return SmallReport.Sample(
            requestsPerSecond: count / (outcome.wall / .seconds(1)), median: percentile(0.5),
            percentile99: percentile(0.99), percentile999: percentile(0.999),
            processorMicroseconds: processor.flatMap { before in
                contestant.server.processorSeconds.map { ($0 - before) * 1e6 / count }
            },
            switches: switches.flatMap { before in
                contestant.server.contextSwitches.map { Double($0 - before) / count }
            })
    }

    private func load(_ contestant: Contestant, for time: TimeAmount?) async throws -> LoadClient.Outcome {
        let client = LoadClient(port: contestant.server.port, connections: connections, callers: callers)
        let outcome = try await client.run(for: time, contestant.next)
        guard outcome.statuses.keys.allSatisfy({ $0 == 200 }) else {
            throw Failure.refused(
                name: contestant.name, statuses: outcome.statuses, output: contestant.server.lastWords)
        }
        return outcome
    }
}

extension SmallCourse {
    private func addNginx() async throws {
        guard let nginx = Tools.find("nginx") else {
            notes.append("nginx is not installed: there is nothing to compare with (apt-get install nginx-light).")
            return
        }
        let port = try await ServerProcess.freePort()
        let configuration = NginxBaseline.configuration(
            port: port, backendPort: backend.port, isBuffering: true, directory: directory, keptConnections: 64)
        let file = try write(configuration, to: "nginx.conf")
        let server = try ServerProcess(
            "nginx", executable: nginx, arguments: ["-p", directory.path, "-c", file, "-e", "stderr"], port: port,
            directory: directory)
        let body = #"{"types":["AssetsV1"],"checkpoints":{"AssetV1":"AssetV1|1","SyncCompleteV1":"SyncCompleteV1|1"}}"#
        let requests = (0..<callers).map { caller in
            ByteBuffer(
                string: "POST /sync/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer caller-\(caller)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        contestants.append(
            Contestant("nginx", server, version: Tools.version(nginx, "-v")) { caller, _ in requests[caller] })
    }

    private func addGateway(_ name: String, _ path: String?) async throws {
        guard let path else {
            notes.append("rind is not beside rind-bench: build it with 'swift build -c release --product rind'.")
            return
        }
        let port = try await ServerProcess.freePort()
        let state = directory.appendingPathComponent("\(name).db")
        let configuration = GatewayBaseline.idle(port: port, backendPort: backend.port, state: state)
        let server = try ServerProcess(
            name, executable: path,
            arguments: ["serve", "--config", try write(configuration, to: "\(name).ini")], port: port,
            directory: directory)
        contestants.append(Contestant(name, server, version: Tools.version(path, "version"), next: Self.pulls()))
    }

    private func addNode() async throws {
        guard let node = Tools.find("node") else {
            notes.append("node is not installed: the gateway in Node.js is left out (apt-get install nodejs).")
            return
        }
        let port = try await ServerProcess.freePort()
        let server = try ServerProcess(
            "node", executable: node,
            arguments: [try write(NodeBaseline.idle, to: "idle.js"), "\(port)", "\(backend.port)"], port: port,
            directory: directory)
        notes.append("node keeps its cursors in node:sqlite where its version has that, else in memory.")
        contestants.append(Contestant("node", server, version: Tools.version(node, "--version"), next: Self.pulls()))
    }

    /// Makes pulls with the cursor of the caller's last answer.
    private static func pulls() -> LoadClient.NextRequest {
        let cursors = NIOLockedValueBox<[Int: Int]>([:])
        return { caller, body in
            let cursor = cursors.withLockedValue { cursors -> Int? in
                if let cursor = AnswerReader.number("timestamp", in: body) { cursors[caller] = cursor }
                return cursors[caller]
            }
            return ByteBuffer(
                string: "GET /sync?schema_version=1&last_pulled_at=\(cursor.map { "\($0)" } ?? "null") HTTP/1.1\r\n"
                    + "Host: bench\r\nAuthorization: Bearer caller-\(caller)\r\nAccept: application/json\r\n\r\n")
        }
    }

    private func write(_ text: String, to name: String) throws -> String {
        let file = directory.appendingPathComponent(name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }
}
