// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1

/// Runs the servers of ``Ledger`` and measures them in turns.
final class LedgerCourse {
    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case noGateway
        case refused(name: String, status: UInt, output: String)
        case wrongCount(name: String, found: Int, expected: Int)
        case noCursor(name: String)
        case differ(Int, Int)

        var description: String {
            switch self {
            case .noGateway:
                "rind is not beside rind-bench: build it with 'swift build -c release --product rind'"
            case .refused(let name, let status, let output): "\(name) answered \(status); its last words:\n\(output)"
            case .wrongCount(let name, let found, let expected):
                "\(name) answered \(found) records instead of \(expected)"
            case .noCursor(let name): "the answer of \(name) does not end with a cursor"
            case .differ(let full, let off): "a first sync has \(full) bytes with a ledger and \(off) without"
            }
        }
    }

    /// A replica whose small pulls are measured.
    private struct Replica {
        let rows: Int
        let gateway: ServerProcess
        let backend: ServerProcess
        var cursor: Int
        var samples: [LedgerReport.Pull] = []
    }

    private let rows: Int
    private let changes: Int
    private let directory: URL
    private let client = DrainClient()
    private var running: [ServerProcess] = []
    private var made = 0
    /// The most rows of a replica whose size is measured: enough to make fixed sizes negligible.
    private static let sizedRows = 300_000

    init(rows: Int, changes: Int, directory: URL) {
        self.rows = rows
        self.changes = changes
        self.directory = directory
    }

    /// Ends all servers.
    func stop() async {
        for server in running.reversed() { await server.stop() }
        running = []
    }

    private func stop(_ server: ServerProcess) async {
        await server.stop()
        running.removeAll { $0 === server }
    }

    private func startBackend(_ stream: AssetStream) async throws -> ServerProcess {
        let port = try await ServerProcess.freePort()
        var arguments = ["serve-stream", "--port", "\(port)", "--rows", "\(stream.rows)", "--ids", stream.ids.rawValue]
        arguments += ["--changes", "\(changes)"] + (stream.isLinked ? ["--linked"] : [])
        let server = try ServerProcess(
            "backend-\(made)", executable: Tools.own, arguments: arguments, port: port, directory: directory)
        made += 1
        running.append(server)
        try await server.waitUntilReady()
        return server
    }

    private func startGateway(
        _ name: String, _ backend: ServerProcess, state: URL, schema: String = AssetStream.schema
    ) async throws -> ServerProcess {
        guard let rind = Tools.rind else { throw Failure.noGateway }
        let port = try await ServerProcess.freePort()
        let file = directory.appendingPathComponent("\(name)-\(made).ini")
        made += 1
        try GatewayBaseline.configuration(
            port: port, backendPort: backend.port, state: state, schema: schema,
            settings: "[ledger]\nmode = \(name)\n"
        ).write(to: file, atomically: true, encoding: .utf8)
        let server = try ServerProcess(
            name, executable: rind, arguments: ["serve", "--config", file.path], port: port, directory: directory)
        running.append(server)
        try await server.waitUntilReady()
        return server
    }

    /// Pulls once; throws if the status or the number of records is wrong.
    private func pull(
        _ gateway: ServerProcess, since cursor: Int? = nil, records: Int
    ) async throws -> DrainClient.Answer {
        let query = cursor.map { "?last_pulled_at=\($0)&schema_version=1" } ?? ""
        let answer = try await client.fetch(.GET, "/sync" + query, port: gateway.port)
        guard answer.status == .ok else {
            throw Failure.refused(name: gateway.name, status: answer.status.code, output: gateway.lastWords)
        }
        guard answer.records == records else {
            throw Failure.wrongCount(name: gateway.name, found: answer.records, expected: records)
        }
        return answer
    }
}

// First syncs.
extension LedgerCourse {
    /// Measures first syncs with and without a ledger in turns, each in a new process; the first round is not measured.
    func measureFirstSyncs(runs: Int) async throws -> LedgerReport.FirstSyncs {
        Text.note("making \(Text.grouped(rows)) rows")
        let backend = try await startBackend(AssetStream(rows: rows))
        var result = LedgerReport.FirstSyncs()
        for run in 0...runs {
            Text.note(run == 0 ? "first syncs: to warm up" : "first syncs: run \(run) of \(runs)")
            // The two take turns in going first, too.
            let full: LedgerReport.FirstSync
            let off: LedgerReport.FirstSync
            if run % 2 == 0 {
                full = try await firstSync("full", backend)
                off = try await firstSync("off", backend)
            } else {
                off = try await firstSync("off", backend)
                full = try await firstSync("full", backend)
            }
            // Cursors have the same length.
            guard full.answerBytes == off.answerBytes else { throw Failure.differ(full.answerBytes, off.answerBytes) }
            guard run > 0 else { continue }
            result.full.append(full)
            result.off.append(off)
        }
        await stop(backend)
        return result
    }

    private func firstSync(_ mode: String, _ backend: ServerProcess) async throws -> LedgerReport.FirstSync {
        let state = directory.appendingPathComponent("first-\(made).db")
        let gateway = try await startGateway(mode, backend, state: state)
        let before = gateway.processorSeconds
        let answer = try await pull(gateway, records: rows)
        let sample = LedgerReport.FirstSync(
            wallSeconds: answer.wall / .seconds(1), answerBytes: answer.bytes,
            processorSeconds: before.flatMap { before in gateway.processorSeconds.map { $0 - before } },
            peakResidentBytes: gateway.peakResidentBytes)
        await stop(gateway)
        removeState(state)
        return sample
    }

    private func removeState(_ state: URL) {
        for end in ["", "-wal", "-shm", ".lock"] {
            try? FileManager.default.removeItem(atPath: state.path + end)
        }
    }
}

// Small pulls.
extension LedgerCourse {
    /// Measures pulls of a few changes, of a large replica and a small one in turns.
    func measurePulls(smallRows: Int, pulls: Int) async throws -> [LedgerReport.Replica] {
        var replicas: [Replica] = []
        for rows in [rows, smallRows] {
            Text.note("small pulls: first sync of \(Text.grouped(rows)) rows")
            replicas.append(try await replica(rows: rows))
        }
        // One-time work, and work that the first sync has left, is not measured.
        for index in replicas.indices {
            for _ in 0..<3 { try await samplePull(&replicas[index]) }
            replicas[index].samples = []
        }
        for pull in 1...pulls {
            if pull % 10 == 0 || pull == pulls { Text.note("small pulls: \(pull) of \(pulls)") }
            for index in pull % 2 == 0 ? [0, 1] : [1, 0] { try await samplePull(&replicas[index]) }
        }
        for replica in replicas {
            await stop(replica.gateway)
            await stop(replica.backend)
        }
        return replicas.map { LedgerReport.Replica(rows: $0.rows, pulls: $0.samples) }
    }

    private func replica(rows: Int) async throws -> Replica {
        let backend = try await startBackend(AssetStream(rows: rows))
        let state = directory.appendingPathComponent("pulls-\(made).db")
        let gateway = try await startGateway("full", backend, state: state)
        let answer = try await pull(gateway, records: rows)
        guard let cursor = answer.cursor else { throw Failure.noCursor(name: gateway.name) }
        return Replica(rows: rows, gateway: gateway, backend: backend, cursor: cursor)
    }

    private func samplePull(_ replica: inout Replica) async throws {
        let before = (replica.gateway.transferredBytes, replica.gateway.processorSeconds)
        let answer = try await pull(replica.gateway, since: replica.cursor, records: changes)
        let after = (replica.gateway.transferredBytes, replica.gateway.processorSeconds)
        guard let cursor = answer.cursor else { throw Failure.noCursor(name: replica.gateway.name) }
        replica.cursor = cursor
        var sample = LedgerReport.Pull(wallSeconds: answer.wall / .seconds(1))
        if let before = before.0, let after = after.0 {
            sample.bytesRead = after.read - before.read
            sample.bytesWritten = after.written - before.written
        }
        if let before = before.1, let after = after.1 { sample.processorSeconds = after - before }
        replica.samples.append(sample)
    }
}

// Sizes.
extension LedgerCourse {
    /// Measures how many bytes a record of a first sync adds to the state file.
    func measureSizes() async throws -> [LedgerReport.Size] {
        var sizes: [LedgerReport.Size] = []
        for isLinked in [false, true] {
            for ids in AssetStream.IDs.allCases {
                let stream = AssetStream(rows: min(rows, Self.sizedRows), ids: ids, isLinked: isLinked)
                let kind = "\(ids.rawValue)\(isLinked ? ", parent and sources" : "")"
                Text.note("bytes a record: \(Text.grouped(stream.rows)) rows, \(kind)")
                sizes.append(try await size(stream))
            }
        }
        return sizes
    }

    private func size(_ stream: AssetStream) async throws -> LedgerReport.Size {
        let backend = try await startBackend(stream)
        let state = directory.appendingPathComponent("size-\(made).db")
        let schema = stream.isLinked ? AssetStream.linkedSchema : AssetStream.schema
        // The log is in the file when the gateway has ended.
        await stop(try await startGateway("full", backend, state: state, schema: schema))
        let empty = try fileSize(state)
        let gateway = try await startGateway("full", backend, state: state, schema: schema)
        _ = try await pull(gateway, records: stream.records)
        await stop(gateway)
        await stop(backend)
        let growth = try fileSize(state) - empty
        removeState(state)
        return LedgerReport.Size(ids: stream.ids, isLinked: stream.isLinked, records: stream.records, bytes: growth)
    }

    private func fileSize(_ file: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
    }
}
