// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import GatewayTesting
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct CheckTests {
    @Test func `ten mistakes are reported in one run, each with its place and a caret, and the status is 78`()
        async throws
    {
        let folder = Place.root.appending(path: "Tests/GatewayConfigTests/Fixtures")
        let result = try await RunningCommand.run("check", "--config", "ten-mistakes.ini", directory: folder)
        #expect(result.status == 78)
        #expect(result.out.isEmpty)
        let expected = try Place.text("Tests/GatewayConfigTests/Fixtures/ten-mistakes.expected")
        #expect(result.error == expected + "rind: ten-mistakes.ini has 10 mistakes.\n")
        let heads = result.error.matches(of: #/ten-mistakes\.ini:\d+:\d+: error: /#)
        #expect(heads.count == 10)
        #expect(result.error.matches(of: #/\| +\^/#).count >= 10)
    }

    @Test func `a valid configuration is summed up`() async throws {
        let result = try await RunningCommand.run("check", "--config", Place.quickstart)
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(result.out.contains("5 tables"))
        #expect(result.out.contains("task_tags: 2 columns from TaskTagV1, TaskTagBackfillV1, since version 3"))
    }

    @Test(arguments: [
        ("", "with another x-app or x-tenant"), ("X-App", "with another x-tenant"), ("X-App, X-Tenant", nil),
    ])
    func `what besides the credential decides who a user is, is named`(_ harmless: String, _ said: String?)
        async throws
    {
        let result = try await RunningCommand.run(
            "check", "--config", Place.quickstart,
            environment: [
                "RIND_BACKEND_FORWARD_HEADERS": "X-Tenant, User-Agent, X-App",
                "RIND_BACKEND_HARMLESS_HEADERS": harmless,
            ])
        #expect(result.status == 0)
        let line = result.out.split(separator: "\n").first { $0.contains("with another") }
        #expect(line?.contains("\(said ?? "?") it is another session") == (said == nil ? nil : true))
    }

    @Test func `a field with the credential cannot be harmless, and one that is not forwarded need not be`()
        async throws
    {
        for (name, text) in [("Cookie", "error: 'cookie' carries the credential"), ("X-A", "warning: 'x-a' is not")] {
            let result = try await RunningCommand.run(
                "check", "--config", Place.quickstart, environment: ["RIND_BACKEND_HARMLESS_HEADERS": name])
            #expect(result.error.contains(text))
        }
    }

    @Test func `a configuration that is not there has one mistake`() async throws {
        let result = try await RunningCommand.run("check", "--config", "no-such-file.ini")
        #expect(result.status == 78)
        #expect(result.error.contains("cannot read the file: no such file"))
    }

    @Test func `a variable of the environment that means no key is a mistake`() async throws {
        let result = try await RunningCommand.run(
            "check", "--config", Place.quickstart, environment: ["RIND_BACKEND_ULR": "http://127.0.0.1"])
        #expect(result.status == 78)
        #expect(result.error.contains("RIND_BACKEND_ULR"))
    }

    private static func expectSample(_ name: String, configuration: String) async throws {
        let sample = Place.fixtures.appending(path: "\(name).jsonl").path(percentEncoded: false)
        let result = try await RunningCommand.run(
            "check", "--config", configuration, "--sample", "-",
            input: try String(contentsOfFile: sample, encoding: .utf8))
        #expect(result.status == 1, "something looks wrong")
        let text = result.out.split(separator: "\n\n", maxSplits: 1).last.map(String.init)
        if ProcessInfo.processInfo.environment["RIND_REGENERATE"] == "1" {
            try (text ?? "").write(
                to: Place.fixtures.appending(path: "\(name).expected"), atomically: true, encoding: .utf8)
        }
        #expect(try text == Place.text("Tests/RindCommandTests/Fixtures/\(name).expected"))
    }

    @Test func `a sample comes out as records, and what looks wrong is named with table, column and count`()
        async throws
    {
        try await Self.expectSample("sample", configuration: Place.quickstart)
    }

    @Test func `a sample shows what becomes of each spelling, and the line that fits each column`() async throws {
        let file = Place.fixtures.appending(path: "spellings.ini").path(percentEncoded: false)
        try await Self.expectSample("spellings", configuration: file)
    }

    @Test func `a sample's tokens are looked at: one that is a number, and a complete line without one`() async throws {
        let lines =
            #"{"type":"TagV1","data":{"id":"t","label":"x"},"ack":7}"# + "\n"
            + #"{"type":"SyncCompleteV1","data":{}}"# + "\n{}\n: ping\n"
        let result = try await RunningCommand.run(
            ["check", "--config", Place.quickstart, "--sample", "-"], input: lines)
        #expect(result.status == 1)
        #expect(result.out.contains("warning: TagV1: 1 line whose token in 'ack' is a number"))
        #expect(result.out.contains("warning: SyncCompleteV1: 1 line without a token in 'ack'"))
        #expect(result.out.contains("quarantined: 0"), "heartbeats are no lines here either")
    }

    @Test func `it says how records are written, what has no way, and what passes through`() async throws {
        try await Place.withDirectory { directory in
            let file = directory.appending(path: "rind.ini").path(percentEncoded: false)
            let text = try Place.text("examples/quickstart/rind.ini").replacing("path = POST /sync/push", with: "")
            func summary(_ text: String) async throws -> String {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                return try await RunningCommand.run(["check", "--config", file], directory: directory).out
            }
            let silent = try await summary(text)
            #expect(silent.contains("refused: neither '[push] path' nor a table says how to write"))
            #expect(silent.contains("passes through, whoever asks, its internal ones too ([backend] denied_paths)"))
            let partly = try await summary(
                text.replacing("[columns tags]", with: "create = POST /tags exists 409\n[columns tags]"))
            #expect(partly.contains("one call for each record; refused, for want of calls: projects, tasks"))
        }
    }

    @Test func `a sample is shown as an older app gets it`() async throws {
        let line = #"{"type":"ProjectV1","ack":"ProjectV1|1","data":{"id":"p-1","name":"House","isArchived":1}}"#
        let result = try await RunningCommand.run(
            "check", "--config", Place.quickstart, "--sample", "-", "--schema-version", "1", input: line)
        #expect(result.status == 0)
        #expect(result.out.contains(#"{"id":"p-1","name":"House","is_archived":true}"#))
        #expect(!result.out.contains("color"))
    }

    @Test(
        arguments: [
            (["--sample", "no-such-file.jsonl"], Int32(66)), (["--sample", "/dev/null"], 65),
            (["--sample", "/dev/null", "--schema-version", "4"], 64), (["--schema-version", "1"], 64),
            (["--sample", "/dev/null", "--schema-version", "x"], 64), (["--nonsense"], 64),
        ] as [([String], Int32)])
    func `what cannot be done has its own status`(arguments: [String], status: Int32) async throws {
        let result = try await RunningCommand.run(["check", "--config", Place.quickstart] + arguments)
        #expect(result.status == status)
        #expect(!result.error.isEmpty)
    }

    @Test func `a backend that answers and a state that does not exist yet are as they should be`() async throws {
        try await Place.withDirectory { directory in
            try await DemoBackend.withRunning { backend in
                let result = try await RunningCommand.run(
                    "check", "--config", Place.quickstart, "--connect",
                    environment: ["RIND_BACKEND_URL": try await backend.url], directory: directory)
                #expect(result.status == 0)
                #expect(result.out.contains("turns strangers away at GET /users/me (401)"))
                #expect(result.out.contains("there is no state yet"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false)).isEmpty)
        }
    }

    @Test func `a backend that does not answer and a state that is none are both said`() async throws {
        try await Place.withDirectory { directory in
            try String(repeating: "no database ", count: 100)
                .write(to: directory.appending(path: "rind-state.db"), atomically: true, encoding: .utf8)
            let result = try await RunningCommand.run(
                "check", "--config", Place.quickstart, "--connect",
                environment: ["RIND_BACKEND_URL": "http://127.0.0.1:1"], directory: directory)
            #expect(result.status == 1)
            #expect(result.out.contains("(backend.connect)"))
            #expect(result.out.contains("(state.not_rind)"))
        }
    }

    /// What is the matter with a state that a gateway has written to, and the code of it.
    enum StateFault: String, CaseIterable {
        case none = "is sound"
        case otherKey = "identity.other_key"
        case clock = "pull.clock_behind"
        case checksum = "state.corrupt"
        case names = "state.open"
    }

    @Test(arguments: StateFault.allCases)
    func `a state on which no gateway would start is wrong`(_ fault: StateFault) async throws {
        try await Place.withDirectory { directory in
            let file = directory.appending(path: "rind-state.db")
            let path = file.path(percentEncoded: false)
            let store = try await SQLiteStateStore.open(path: path)
            let ahead = fault == .clock ? 86_400_000 : -1_000 as Int64
            let row = CursorRow(
                principal: Principal(rawValue: "aa"),
                cursor: try #require(Cursor(rawValue: Int64(Date().timeIntervalSince1970 * 1_000) + ahead)),
                replica: ReplicaID(rawValue: 1), parent: nil, vector: CheckpointVector(), schemaVersion: nil,
                session: Session(rawValue: "bb"), generation: 0, mappingDigest: "cc")
            try await store.commit(PullCommit(row: row, replica: .new, now: row.cursor.time))
            if fault == .checksum {
                let key = RowKey(.principal, of: row.principal.owner)
                var changes = RowChanges()
                changes.rows[key] = ByteRow(key: key, version: 1, bytes: [1, 2])
                try await store.commit(changes)
            }
            if fault == .otherKey { try await store.setKeyMark(7, replaces: true) }
            await store.close()
            if fault == .names {
                try FileManager.default.linkItem(at: file, to: directory.appending(path: "other.db"))
            }
            let result = try await RunningCommand.run(
                "check", "--config", Place.quickstart, "--connect",
                environment: ["RIND_BACKEND_URL": "http://127.0.0.1:1"], directory: directory)
            let line = try #require(result.out.split(separator: "\n").first { $0.contains(#/^(ok|wrong) +state/#) })
            #expect(line.hasPrefix(fault == .none ? "ok" : "wrong") && line.contains(fault.rawValue), "\(line)")
            if fault == .checksum { #expect(line.contains("1 of 'principal'")) }
        }
    }

    @Test func `a spool directory that is not there is a warning, and with '--connect' wrong`() async throws {
        try await Place.withDirectory { directory in
            let environment = ["RIND_SPOOL_DIR": directory.appending(path: "spool").path(percentEncoded: false)]
            let plain = try await RunningCommand.run("check", "--config", Place.quickstart, environment: environment)
            #expect(plain.status == 0)
            #expect(plain.error.contains("warning: the spool's directory") && plain.error.contains("does not exist"))
            let connected = try await RunningCommand.run(
                "check", "--config", Place.quickstart, "--connect",
                environment: environment.merging(["RIND_BACKEND_URL": "http://127.0.0.1:1"]) { $1 },
                directory: directory)
            #expect(connected.status == 1)
            #expect(connected.out.contains(#/wrong +spool +the spool's directory .* does not exist \(spool.file\)/#))
        }
    }

    @Test func `an identity key that everybody can read is warned of until it is closed`() async throws {
        try await Place.withDirectory { directory in
            let key = directory.appending(path: "identity.key").path(percentEncoded: false)
            try String(repeating: "k", count: 40).write(toFile: key, atomically: true, encoding: .utf8)
            for (mode, warns) in [(0o644, true), (0o640, false), (0o600, false)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
                let result = try await RunningCommand.run(
                    "check", "--config", Place.quickstart, environment: ["RIND_IDENTITY_KEY": "@file:\(key)"])
                #expect(result.status == 0)
                #expect(result.error.contains("everybody on this machine can read") == warns, "\(result.error)")
            }
        }
    }

    @Test(.disabled(if: TestRun.isSanitized, "a sanitizer writes larger files of its own"))
    func `a spool directory without room for a file of 64 KiB is wrong`() async throws {
        try await Place.withDirectory { directory in
            let path = directory.path(percentEncoded: false)
            func spool(_ limit: String) async throws -> String {
                let result = try await RunningCommand.run(
                    ["-c", #"trap "" XFSZ; ulimit -f \#(limit); exec "$@""#, "sh", RunningCommand.executable, "check"]
                        + ["--config", Place.quickstart, "--connect"],
                    program: "/bin/sh",
                    environment: ["RIND_BACKEND_URL": "http://127.0.0.1:1", "RIND_SPOOL_DIR": path],
                    directory: directory
                )
                return result.out.split(separator: "\n").first { $0.contains(" spool ") }.map(String.init)
                    ?? result.error
            }
            // In blocks of 512 bytes.
            let small = try await spool("127")
            #expect(small == "wrong  spool    \(path) takes no file of 64 KiB: File too large (spool.file)")
            let large = try await spool("128")
            #expect(large == "ok     spool    \(path) takes files")
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(left.isEmpty)
        }
    }
}
