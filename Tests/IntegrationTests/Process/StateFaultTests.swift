// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// A state that fails under the running `rind serve`: who is told, and in which words.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct StateFaultTests {
    private static func pull(_ gateway: GatewayProcess, _ cursor: Int64? = nil) async throws -> RawAnswer {
        try await gateway.http.send("GET", GatewayStack.pullTarget(cursor), headers: GatewayStack.headers())
    }

    private static func faults(_ gateway: GatewayProcess) -> [Substring] {
        gateway.log.split(separator: "\n").filter { $0.contains("the state fails") }
    }

    @Test func `a state file that is removed is noticed at once, and one line tells where and what to do`() async throws
    {
        try await GatewayStack.withBackend { backend, directory in
            try await GatewayProcess.with(backend: try await backend.url, directory: directory) { gateway in
                let cursor = try PulledChanges(await Self.pull(gateway)).cursor
                #expect(try await gateway.http.send("GET", "/readyz").status == 200)
                for end in ["", "-wal", "-shm"] {
                    try FileManager.default.removeItem(atPath: "\(directory)/state.db\(end)")
                }
                #expect(try await gateway.http.send("GET", "/readyz").outcome == "503 state.replaced")
                for presented in [nil, cursor] {
                    #expect(try await Self.pull(gateway, presented).outcome == "503 state.replaced")
                }
                let push = try await gateway.http.send(
                    "POST", GatewayStack.pushTarget(cursor), headers: GatewayStack.headers(),
                    body: Array(PushReceiptTests.created.json.utf8))
                #expect(push.outcome == "503 state.replaced")
                #expect(try await gateway.http.send("GET", "/livez").status == 200)
                let line = try await gateway.line(with: "the state fails")
                for text in [
                    #""level":"error""#, #""code":"state.replaced""#, "\(directory)/state.db", "replaced or removed",
                    "stop the gateway, then restore a backup",
                ] { #expect(line.contains(text), "\(text)") }
                #expect(Self.faults(gateway).count == 1)
                gateway.send(SIGTERM)
                #expect(try await gateway.end() == 0)
            }
        }
    }

    @Test(.enabled(if: GatewayProcess.hasDisks, "no right to mount a disk"))
    func `a full disk makes it not ready, with a line that names the place, until there is room`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            let overrides = ["state.url": "sqlite:\(directory)/disk/state.db"]
            try await GatewayProcess.with(
                backend: try await backend.url, directory: directory, overrides: overrides,
                configuration: try StackConfiguration.withRequestCheckpoints(), diskSize: 4 << 20
            ) { gateway in
                let first = try PulledChanges(await Self.pull(gateway)).cursor
                try await backend.edit(.put("tags", ["id": "t", "label": "x"]))
                let second = try PulledChanges(await Self.pull(gateway, first)).cursor
                #expect(try await gateway.http.send("GET", "/readyz").status == 200)
                let filler = gateway.onDisk("filler", in: directory)
                #expect(FileManager.default.createFile(atPath: filler, contents: nil))
                let file = try FileHandle(forWritingTo: URL(filePath: filler))
                while (try? file.write(contentsOf: Data(repeating: 1, count: 4_096))) != nil {}
                try file.close()
                try await eventually { try await gateway.http.send("GET", "/readyz").outcome == "503 state.full" }
                let line = try await gateway.line(with: "the state fails")
                for text in [
                    #""level":"warning""#, #""code":"state.full""#, "\(directory)/disk/state.db", "no space left",
                    "make room",
                ] { #expect(line.contains(text), "\(text)") }
                #expect(try await gateway.http.send("GET", "/livez").status == 200)
                #expect(Self.faults(gateway).count == 1)
                // That a later cursor came back is stored later; a new device has to be stored now.
                let known = try await Self.pull(gateway, second).outcome
                #expect(known == "200")
                #expect(try await Self.pull(gateway).outcome == "503 state.full")
                try FileManager.default.removeItem(atPath: filler)
                try await eventually { try await gateway.http.send("GET", "/readyz").status == 200 }
                _ = try PulledChanges(await Self.pull(gateway))
            }
        }
    }
}
