// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import Gateway
import JSONBytes
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct AcceptClockTests {
    @Test func `a state from the future is gone on with once the operator accepts the clock`() async throws {
        try await Place.withDirectory { directory in
            let path = directory.appending(path: "rind-state.db").path(percentEncoded: false)
            let future = SystemClock().now + 365 * 86_400_000
            let store = try await SQLiteStateStore.open(path: path)
            let row = CursorRow(
                principal: StateFixture.alice, cursor: try #require(Cursor(time: future)),
                replica: StateFixture.phone, parent: nil, vector: CheckpointVector(), schemaVersion: 1,
                session: Session(rawValue: "s"), generation: 0, mappingDigest: "m")
            try await store.commit(PullCommit(row: row, replica: .new, now: future))
            await store.close()
            func run(_ more: String...) async throws -> JSONValue {
                let arguments = ["state", "accept-clock", "--json", "--config", Place.quickstart] + more
                let result = try await RunningCommand.run(arguments, directory: directory)
                #expect(result.status == 0, "\(result.error)")
                return try JSONValue.parse(result.out)
            }
            let told = try await run()
            #expect(told["changed"]?.bool == false && told["newest"]?.int64 == future.milliseconds)
            #expect(told["cursor_lead"]?.int64 == 0)
            let done = try await run("--yes")
            let lead = try #require(done["cursor_lead"]?.int64)
            #expect(done["changed"]?.bool == true && lead + (done["clock"]?.int64 ?? 0) == future.milliseconds + 1)
            let repeated = try await run("--yes")
            #expect(repeated["changed"]?.bool == false)
            let again = try await SQLiteStateStore.open(path: path)
            #expect(again.cursorLead == lead)
            await again.close()
        }
    }

    @Test(arguments: ["accept-clock", "accept-key"])
    func `what is accepted for a state that is not there makes none`(command: String) async throws {
        try await Place.withDirectory { directory in
            let result = try await RunningCommand.run(
                "state", command, "--yes", "--config", Place.quickstart, directory: directory)
            #expect(result.status == 73 && result.error.contains("(state.open)"), "\(result.error)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path()).isEmpty)
        }
    }

    @Test func `a gateway that runs keeps its clock`() async throws {
        try await StateFixture.with { state in
            let result = try await state.run("state", "accept-clock", "--yes")
            #expect(result.status == 75)
        }
    }
}
