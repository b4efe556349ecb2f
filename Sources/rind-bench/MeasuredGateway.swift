// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1

/// Runs a gateway with a state of its own, and puts load on it.
final class MeasuredGateway {
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

    /// The gateway's name in messages.
    let name: String
    private let port: Int
    private let file: String
    private let directory: URL
    private var server: ServerProcess?

    /// Writes the configuration, which says to listen on the port; ``start()`` starts the gateway.
    init(_ name: String, port: Int, configuration: String, directory: URL) throws {
        self.name = name
        self.port = port
        self.directory = directory
        let file = directory.appendingPathComponent("\(name).ini")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        self.file = file.path
    }

    /// The processor time of the running gateway so far, in seconds; nil if the system does not report it.
    var processorSeconds: Double? { server?.processorSeconds }

    /// Starts the gateway; returns the time until it says that it is ready.
    @discardableResult
    func start() async throws -> Duration {
        guard let rind = Tools.rind else { throw Failure.noGateway }
        let clock = ContinuousClock()
        let began = clock.now
        let server = try ServerProcess(
            name, executable: rind, arguments: ["serve", "--config", file], port: port, directory: directory)
        self.server = server
        while began.duration(to: clock.now) < .seconds(60) {
            let answer = try? await DrainClient().fetch(.GET, "/readyz", port: port)
            if answer?.status == .ok { return began.duration(to: clock.now) }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw Failure.neverReady(name: name, output: server.lastWords)
    }

    /// Ends the gateway and waits until it is gone.
    func stop(with signal: Int32 = SIGTERM) async { await server?.stop(with: signal) }

    /// Sends requests for a time, or one for each caller if there is no time; every answer must be right.
    @discardableResult
    func load(
        _ course: LoadClient.Course, connections: Int, callers: Int, for time: TimeAmount?
    ) async throws -> LoadClient.Outcome {
        let client = LoadClient(port: port, connections: connections, callers: callers)
        let outcome = try await client.run(for: time, course)
        guard outcome.statuses.keys.allSatisfy({ $0 == 200 }), outcome.wrong.count == 0 else {
            throw Failure.refused(
                name: name, statuses: outcome.statuses,
                wrong: outcome.wrong.count == 0 ? "" : "\(outcome.wrong.count) are wrong: \(outcome.wrong.example)\n",
                output: server?.lastWords ?? "")
        }
        return outcome
    }
}
