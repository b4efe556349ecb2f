// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import JSONBytes
import NIOCore
import NIOPosix
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct ServeTests {
    @Test func `it serves, says where, and ends with 0 on SIGTERM and on SIGINT`() async throws {
        try await DemoBackend.withRunning { backend in
            for signal in [SIGTERM, SIGINT] {
                try await ServedGateway.with(backend) { gateway in
                    #expect(try await gateway.get("/livez").status == 200)
                    #expect(try await gateway.get("/readyz").status == 200)
                    let answer = try await gateway.get("/sync?last_pulled_at=null", token: "ada-token")
                    #expect(answer.status == 200)
                    gateway.command.signal(signal)
                    let result = await gateway.command.finished()
                    #expect(result.status == 0)
                    #expect(result.out.isEmpty)
                    #expect(result.error.contains("stopped"))
                }
            }
        }
    }

    @Test func `SIGTERM lets a running pull finish, takes no new one, and then ends with 0`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "t", "label": "x"]))
            let (reached, arrive) = AsyncStream.makeStream(of: Void.self)
            let (gate, open) = AsyncStream.makeStream(of: Void.self)
            backend.streamHook = { point in
                guard point == StreamPoint(request: "TagsV1", part: .upserts) else { return }
                arrive.finish()
                for await _ in gate {}
            }
            try await ServedGateway.with(backend) { gateway in
                async let answer = gateway.get("/sync?last_pulled_at=null", token: "ada-token")
                for await _ in reached {}
                gateway.command.signal(SIGTERM)
                try await refusesConnections(gateway.port)
                open.finish()
                let (status, body) = try await answer
                #expect(status == 200)
                #expect(body.contains(#""tags":{"created":[{"id":"t","label":"x"}]"#))
                #expect(await gateway.command.finished().status == 0)
            }
        }
    }

    @Test func `a busy address is reported with status 69`() async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await Place.withDirectory { directory in
            let result = try await ServedGateway.start(
                in: directory, environment: ["RIND_GATEWAY_LISTEN": "127.0.0.1:\(port)"]
            ).finished()
            #expect(result.status == 69)
            #expect(
                result.error.contains(
                    "Cannot listen on 127.0.0.1:\(port): another process listens there. (server.listen)"))
        }
        try await channel.close()
    }

    @Test func `an address in use is all that is said, whichever listener wants it`() async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        for key in ["RIND_ADMIN_LISTEN", "RIND_GATEWAY_LISTEN"] {
            try await Place.withDirectory { directory in
                var environment = ["RIND_ADMIN_LISTEN": "127.0.0.1:0"]
                environment[key] = "127.0.0.1:\(port)"
                let result = try await ServedGateway.start(in: directory, environment: environment).finished()
                #expect(result.status == 69)
                #expect(!result.error.contains("child channel") && !result.error.contains("CancellationError"))
            }
        }
        try await channel.close()
    }

    @Test func `with the format json every line is JSON, from warnings to why it ends`() async throws {
        try await Place.withDirectory { directory in
            let json = ["RIND_LOG_FORMAT": "json", "RIND_BACKEND_HARMLESS_HEADERS": "x-a"]
            let ends: [([String: String], Int32, String)] = [
                (["RIND_STATE_URL": "sqlite:\(directory.path())/none/state.db"], 73, "state.open"),
                (["RIND_SPOOL_DIR": "/nowhere"], 73, "spool.file"),
                (["RIND_GATEWAY_LISTEN": "22080"], 78, "config.error"),
            ]
            for (environment, status, code) in ends {
                let result = try await ServedGateway.start(
                    in: directory, environment: json.merging(environment) { $1 }
                ).finished()
                #expect(result.status == status)
                let lines = try result.error.split(separator: "\n").map { try JSONValue.parse(String($0)) }
                #expect(lines.allSatisfy { $0["time"]?.string != nil && $0["level"]?.string != nil })
                let warning = try #require(lines.first { $0["code"]?.string == "config.warning" })
                #expect(warning["line"]?.int64 == 1 && warning["file"]?.string?.contains("HARMLESS") == true)
                let last = try #require(lines.last)
                #expect(last["level"]?.string == "critical" && last["exit_status"]?.int64 == Int64(status))
                #expect(last["code"]?.string == code)
                if status == 78 { #expect(lines.filter { $0["code"]?.string == code }.count > 1) }
            }
        }
    }

    @Test func `only check and serve repeat the warnings of a configuration`() async throws {
        try await StateFixture.with { state in
            let warned = ["RIND_BACKEND_HARMLESS_HEADERS": "x-a"]
            for (arguments, warns) in [
                (["check"], true), (["replicas", "list"], false), (["explain", "schema"], false), (["serve"], true),
                (["journal", "list"], false), (["quarantine", "list"], false),
            ] {
                let result = try await RunningCommand.run(
                    arguments + ["--config", Place.quickstart], environment: warned, directory: state.directory
                )
                #expect(result.error.contains("warning:") == warns, "\(arguments)")
            }
        }
    }

    @Test func `a state in a directory that does not exist is reported with status 73`() async throws {
        try await Place.withDirectory { directory in
            let result = try await ServedGateway.start(
                in: directory, environment: ["RIND_STATE_URL": "sqlite:\(directory.path())/none/state.db"]
            ).finished()
            #expect(result.status == 73)
            let reason = "its directory '\(directory.path())/none': no such file or directory. Look at the path"
            #expect(result.error.contains(reason) && result.error.contains("(state.open)"), "\(result.error)")
        }
    }

    @Test func `a state that another gateway holds is said with its process, with status 75`() async throws {
        try await DemoBackend.withRunning { backend in
            try await ServedGateway.with(backend) { gateway in
                let result = try await ServedGateway.start(in: gateway.directory).finished()
                #expect(result.status == 75)
                #expect(result.error.contains("is in use by a gateway (process \(gateway.command.processID))"))
                #expect(try await gateway.get("/livez").status == 200)
                let check = try await RunningCommand.run(
                    "check", "--config", Place.quickstart, "--connect",
                    environment: ["RIND_BACKEND_URL": try await backend.url], directory: gateway.directory)
                #expect(check.status == 0)
                #expect(check.out.contains(#/is in use by a gateway that runs.*, so its health was not tried/#))
            }
        }
    }

    @Test func `a file that is no state is left as it is, with status 74`() async throws {
        try await Place.withDirectory { directory in
            let file = directory.appending(path: "rind-state.db")
            let text = String(repeating: "no database ", count: 100)
            try text.write(to: file, atomically: true, encoding: .utf8)
            let result = try await ServedGateway.start(in: directory).finished()
            #expect(result.status == 74)
            #expect(result.error.contains("(state.not_rind)"))
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
        }
    }

    @Test func `a clock behind the state stops it, with status 75`() async throws {
        try await Place.withDirectory { directory in
            let path = directory.appending(path: "rind-state.db").path(percentEncoded: false)
            let store = try await SQLiteStateStore.open(path: path)
            let later = Int64(Date().timeIntervalSince1970 * 1_000) + 86_400_000
            let row = CursorRow(
                principal: Principal(rawValue: "aa"), cursor: try #require(Cursor(rawValue: later)),
                replica: ReplicaID(rawValue: 1), parent: nil, vector: CheckpointVector(), schemaVersion: nil,
                session: Session(rawValue: "bb"), generation: 0, mappingDigest: "cc")
            try await store.commit(PullCommit(row: row, replica: .new, now: row.cursor.time))
            await store.close()
            let result = try await ServedGateway.start(in: directory).finished()
            #expect(result.status == 75)
            #expect(result.error.contains("The clock is behind the newest cursor in the state (pull.clock_behind)."))
        }
    }

    @Test func `the log for machines is JSON line by line, and no secret is in it`() async throws {
        try await DemoBackend.withRunning { backend in
            let environment = ["RIND_LOG_FORMAT": "json", "RIND_LOG_LEVEL": "trace"]
            try await ServedGateway.with(backend, environment: environment) { gateway in
                _ = try await gateway.get("/sync?last_pulled_at=null", token: "ada-token")
                _ = try await gateway.get("/sync?last_pulled_at=null", token: "wrong-token")
                gateway.command.signal(SIGTERM)
                let log = await gateway.command.finished().error
                let lines = try log.split(separator: "\n").map { try JSONValue.parse(String($0)) }
                #expect(lines.allSatisfy { $0["time"]?.string != nil && $0["message"]?.string != nil })
                let syncs = lines.filter { $0["message"]?.string == "sync" }
                #expect(syncs.map { $0["status"]?.int64 } == [200, 401])
                #expect(!log.contains("ada-token") && !log.contains("wrong-token"))
                #expect(!log.contains("quickstart-key"))
            }
        }
    }

    /// Connects until nobody listens any more.
    private func refusesConnections(_ port: Int) async throws {
        while true {
            do {
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port).get()
                try await channel.close()
            } catch {
                return
            }
        }
    }
}
