// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1

/// Runs the servers of ``Push`` and measures them in turns.
final class PushCourse {
    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case noGateway
        case refused(name: String, statuses: [UInt: Int], output: String)
        case noCursor(name: String)
        case wrongCount(who: String, found: Int, expected: Int)

        var description: String {
            switch self {
            case .noGateway:
                "rind is not beside rind-bench: build it with 'swift build -c release --product rind'"
            case .refused(let name, let statuses, let output):
                "\(name) answered \(statuses.map { "\($0.value) times \($0.key)" }.sorted().joined(separator: ", ")); "
                    + "its last words:\n\(output)"
            case .noCursor(let name): "the answer of \(name) does not end with a cursor"
            case .wrongCount(let who, let found, let expected):
                "the backend holds \(found) records of \(who) instead of \(expected)"
            }
        }
    }

    /// A backend, and the gateway in front of it.
    private struct Stage {
        let style: PushReport.Style
        let backend: ServerProcess
        let gateway: ServerProcess
        var rounds = 0
    }

    private let parallel: Int
    private let latency: Int
    private let directory: URL
    private var running: [ServerProcess] = []
    private var made = 0
    /// The cursor of the last pull.
    private var lastCursor = "null"
    /// The client that pushes through the gateway.
    private let ada = PushClient(token: "ada-token")
    /// The client that checks which of Ada's records the backend has.
    private let observer = PushClient(token: ServeDemo.observer)
    /// The client that pushes to the backend directly.
    private let bob = PushClient(token: "bob-token")

    init(parallel: Int, latency: Int, directory: URL) {
        self.parallel = parallel
        self.latency = latency
        self.directory = directory
    }

    /// Ends all servers.
    func stop() async {
        for server in running.reversed() { await server.stop() }
        running = []
    }

    /// Pushes in turns through the gateway and without it; the first round is not measured.
    func measure(_ style: PushReport.Style, records: Int, runs: Int) async throws -> [PushReport.Pair] {
        var stage = try await start(style)
        let (through, beside) = (PushLoad(name: "rind", size: records), PushLoad(name: "direct", size: records))
        var pairs: [PushReport.Pair] = []
        for run in 0...runs {
            Text.note(run == 0 ? "\(style.rawValue): to warm up" : "\(style.rawValue): run \(run) of \(runs)")
            // The two take turns in going first, too.
            var direct = 0.0
            if run % 2 == 1 { direct = try await pushDirectly(beside, stage) }
            let before = stage.gateway.processorSeconds
            let gateway = try await push(through, stage)
            let after = stage.gateway.processorSeconds
            if run % 2 == 0 { direct = try await pushDirectly(beside, stage) }
            stage.rounds += 1
            guard run > 0 else { continue }
            pairs.append(
                PushReport.Pair(
                    gatewaySeconds: gateway, directSeconds: direct,
                    processorSeconds: before.flatMap { before in after.map { $0 - before } }))
        }
        for (client, load) in [(observer, through), (bob, beside)] {
            let found = try await stream(client, stage).count
            let expected = load.held(after: stage.rounds)
            guard found == expected else { throw Failure.wrongCount(who: load.name, found: found, expected: expected) }
        }
        await stop()
        return pairs
    }

    /// Measures the memory of one large push of creates through a fresh gateway.
    func measureMemory(_ style: PushReport.Style, records: Int) async throws -> PushReport.Memory {
        Text.note("\(style.rawValue): the memory of \(Text.grouped(records)) records")
        let stage = try await start(style)
        let load = PushLoad(name: "large", size: records)
        var memory = PushReport.Memory(
            bodyBytes: load.clientBody(0).count, residentBytes: nil, peakResidentBytes: nil, wallSeconds: 0)
        _ = try await pull(stage)
        memory.residentBytes = stage.gateway.peakResidentBytes
        memory.wallSeconds = try await push(load, stage)
        memory.peakResidentBytes = stage.gateway.peakResidentBytes
        let found = try await stream(observer, stage).count
        guard found == records else { throw Failure.wrongCount(who: load.name, found: found, expected: records) }
        await stop()
        return memory
    }
}

// The pushes.
extension PushCourse {
    /// Pushes as an app does: a pull, which is not measured, then the push.
    private func push(_ load: PushLoad, _ stage: Stage) async throws -> Double {
        let cursor = try await pull(stage)
        let request = PushClient.Request(
            method: .POST, path: "/sync?last_pulled_at=\(cursor)&schema_version=3", body: load.clientBody(stage.rounds))
        let outcome = try await ada.send([request], port: stage.gateway.port)
        try check(outcome, stage.gateway)
        return outcome.wall / .seconds(1)
    }

    private func pull(_ stage: Stage) async throws -> Int {
        let request = PushClient.Request(method: .GET, path: "/sync?schema_version=3&last_pulled_at=\(lastCursor)")
        let outcome = try await ada.send([request], port: stage.gateway.port, keepsBody: true)
        try check(outcome, stage.gateway)
        let digits = outcome.body.readableBytesView.suffix(64)
            .split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.last
        guard let cursor = digits.flatMap({ Int(String(decoding: $0, as: UTF8.self)) }) else {
            throw Failure.noCursor(name: stage.gateway.name)
        }
        lastCursor = "\(cursor)"
        return cursor
    }

    /// Sends the gateway's requests for the push directly, from a client that needs no time to make them.
    private func pushDirectly(_ load: PushLoad, _ stage: Stage) async throws -> Double {
        let outcome: PushClient.Outcome
        switch stage.style {
        case .stream:
            // The gateway's client has seen everything too.
            let base = try await stream(bob, stage).token
            let request = PushClient.Request(
                method: .POST, path: "/sync/push", body: load.streamBody(stage.rounds, base: base),
                fields: [("idempotency-key", "\(load.name)-\(stage.rounds)")])
            outcome = try await bob.send([request], port: stage.backend.port)
        case .calls:
            var calls = load.calls(stage.rounds)
            if stage.rounds == 0 {
                // Tasks need their project.
                try check(try await bob.send([calls.removeFirst()], port: stage.backend.port), stage.backend)
            }
            outcome = try await bob.send(calls, port: stage.backend.port, connections: parallel)
        }
        try check(outcome, stage.backend)
        return outcome.wall / .seconds(1)
    }

    /// Returns the number of tasks that the backend streams to a client, and their newest token.
    private func stream(_ client: PushClient, _ stage: Stage) async throws -> (count: Int, token: String?) {
        let request = PushClient.Request(
            method: .POST, path: "/sync/stream", body: Array(#"{"types":["TasksV2"]}"#.utf8))
        let outcome = try await client.send([request], port: stage.backend.port, keepsBody: true)
        try check(outcome, stage.backend)
        let lines = outcome.body.readableBytesView.split(separator: UInt8(ascii: "\n"))
        let tasks = lines.filter { $0.starts(with: Array(#"{"type":"TaskV2","#.utf8)) }
        let ack = Array(#""ack":""#.utf8)
        let token = tasks.last.flatMap { line in
            line.indices.last { line[$0...].starts(with: ack) }.map { line[($0 + ack.count)...] }
        }
        return (tasks.count, token.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self) })
    }

    private func check(_ outcome: PushClient.Outcome, _ server: ServerProcess) throws {
        guard outcome.statuses.keys.allSatisfy({ (200..<300).contains($0) }) else {
            throw Failure.refused(name: server.name, statuses: outcome.statuses, output: server.lastWords)
        }
    }
}

// The servers.
extension PushCourse {
    private func start(_ style: PushReport.Style) async throws -> Stage {
        guard let rind = Tools.rind else { throw Failure.noGateway }
        made += 1
        lastCursor = "null"
        let latency = style == .calls ? latency : 0
        let port = try await ServerProcess.freePort()
        let file = directory.appendingPathComponent("backend-\(made).db").path
        let backend = try ServerProcess(
            "backend-\(made)", executable: Tools.own,
            arguments: ["serve-demo", "--port", "\(port)", "--file", file, "--latency", "\(latency)"], port: port,
            directory: directory)
        running.append(backend)
        try await backend.waitUntilReady()
        let gatewayPort = try await ServerProcess.freePort()
        let configuration = directory.appendingPathComponent("rind-\(made).ini")
        let state = directory.appendingPathComponent("state-\(made).db")
        let push = style == .stream ? "path = POST /sync/push" : "parallel = \(parallel)"
        try
            (GatewayBaseline.configuration(
                port: gatewayPort, backendPort: backend.port, state: state, schema: PushLoad.schema(style))
            + "\n[push]\n\(push)\n")
            .write(to: configuration, atomically: true, encoding: .utf8)
        let gateway = try ServerProcess(
            "rind-\(made)", executable: rind, arguments: ["serve", "--config", configuration.path], port: gatewayPort,
            directory: directory)
        running.append(gateway)
        try await gateway.waitUntilReady()
        return Stage(style: style, backend: backend, gateway: gateway)
    }
}

extension PushLoad {
    /// Returns the gateway's configuration for the push, except ports and paths.
    static func schema(_ style: PushReport.Style) -> String {
        let calls = style == .calls
        return """
            [table projects]
            request = ProjectsV2
            upsert = ProjectV2
            delete = ProjectDeleteV1 by projectId
            id = id
            \(calls ? projectCalls : "")
            [columns projects]
            name = string
            is_archived = boolean isArchived
            color = string?

            [table tasks]
            request = TasksV2
            upsert = TaskV2, TaskBackfillV2
            delete = TaskDeleteV1 by taskId
            id = id
            parent = project_id projects
            \(calls ? taskCalls : "")
            [columns tasks]
            name = string
            position = number
            is_done = boolean isDone
            project_id = string projectId ref projects
            note = string?
            created_at = timestamp createdAt
            updated_at = timestamp updatedAt
            due_at = timestamp? dueAt

            """
    }

    private static let projectCalls = """
        create = POST /projects exists 409 body {"id":"{id}","name":"{name}","isArchived":"{is_archived}",
          "color":"{color}"}
        update = PATCH /projects/{id} missing 404
        remove = DELETE /projects/{id} missing 404

        """

    private static let taskCalls = """
        create = POST /tasks exists 409 body {"id":"{id}","name":"{name}","position":"{position}",
          "isDone":"{is_done}","projectId":"{project_id}","note":"{note}","createdAt":"{created_at}",
          "updatedAt":"{updated_at}","dueAt":"{due_at}"}
        update = PATCH /tasks/{id} missing 404
        remove = DELETE /tasks/{id} missing 404

        """
}
