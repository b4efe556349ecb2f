// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Symptoms of the gateway itself, as `docs/TROUBLESHOOTING.md` names them.
@Suite(.timeLimit(.minutes(5))) struct ServerSymptomTests {
    @Test func `The gateway does not start`() async throws {
        try await SymptomStage.with { stage in
            let second = try await RunningCommand.run(
                ["serve", "--config", Place.quickstart],
                environment: [
                    "RIND_GATEWAY_LISTEN": "127.0.0.1:\(stage.gateway.port)",
                    "RIND_STATE_URL": "sqlite:\(stage.gateway.directory.path())/second.db",
                ], directory: stage.gateway.directory
            )
            #expect(second.status == 69)
            try await stage.showNext(log: second.error)

            let file = stage.gateway.directory.appending(path: "rind.ini")
            try Place.text("examples/quickstart/rind.ini").replacing("[backend]", with: "[backend]\nidle_timeuot = 60s")
                .write(to: file, atomically: true, encoding: .utf8)
            try await stage.showNext(["/etc/rind/rind.ini": "rind.ini"])
        }
    }

    private static let hasCurl = ["/usr/bin/curl", "/usr/local/bin/curl"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: hasCurl, "curl is not installed"))
    func `/readyz is 503`() async throws {
        try await SymptomStage.with { stage in
            let state = stage.gateway.directory.appending(path: "rind-state.db")
            let moved = stage.gateway.directory.appending(path: "moved.db")
            try FileManager.default.moveItem(at: state, to: moved)
            #expect(try await stage.pull().status == 503)
            try await stage.showNext()
            await stage.expectLog("the state fails")
            try await stage.showNext()
            try FileManager.default.moveItem(at: moved, to: state)
            #expect(try await stage.pull().status == 200)
        }
    }

    @Test func `The backend was restored from a backup`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            let cursor = try await stage.quietCursor()
            try await stage.showNext()
            #expect(try await stage.pull(cursor).status == 200)
            await stage.expectLog("restart=distrusted")
            try await stage.showNext()
        }
    }

    @Test func `Every device begins anew`() async throws {
        try await SymptomStage.with { stage in
            await stage.expectLog("state.new")
            try await stage.showNext()
        }
    }

    @Test func `The state grows`() async throws {
        try await SymptomStage.with { stage in
            try await stage.seed()
            // One device that goes on from its cursor, and an app that never does.
            _ = try await stage.quietCursor()
            for _ in 0..<3 { #expect(try await stage.pull().status == 200) }
            try await stage.showNext()
        }
    }
}
