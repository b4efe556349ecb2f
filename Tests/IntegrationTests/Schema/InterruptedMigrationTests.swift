// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// The schema version of a device's data belongs to its cursor: nothing gets lost between two of them (finding 23).
@Suite(.timeLimit(.minutes(5))) struct InterruptedMigrationTests {
    private static let once = ["backend.resume_attempts": "0"]

    /// A device whose app has been updated, before 200 changes.
    private static func updated(_ app: SchemaApp, _ stack: GatewayStack) async throws -> StackDevice {
        try await stack.seedForMigration()
        var device = try await stack.quietDevice(app)
        try await stack.changeTwoHundred()
        device.model.upgrade(to: 3)
        return device
    }

    @Test(arguments: SchemaApp.all, [0, 60, 300])
    func `a backend that is cut in the middle has changed nothing, and the same migration comes again`(
        _ app: SchemaApp, _ lines: Int
    ) async throws {
        try await GatewayStack.with(app.options(Self.once)) { stack in
            var device = try await Self.updated(app, stack)
            let before = device.model.database
            stack.backend.inject(.stream { $0.cutAfterLines = lines })
            let refused = await #expect(throws: StackDevice.Failure.self) { try await device.pull() }
            guard case .pull(let answer)? = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(answer.outcome == "502 backend.stream_broken")
            #expect(device.model.database == before)
            let (again, applied) = try await device.pull()
            #expect(try await stack.migration(of: again) == "1 to 3")
            if app.hasLedger { #expect(applied.log == []) }
            try await stack.expectAsFresh(device)
        }
    }

    @Test(arguments: [SchemaApp.documented, .silent], [1, 200])
    func `a stream that is resumed brings the whole migration`(_ app: SchemaApp, _ lines: Int) async throws {
        try await GatewayStack.with(app.options(["backend.resume_backoff": "10ms"])) { stack in
            var device = try await Self.updated(app, stack)
            stack.backend.inject(.stream { $0.cutAfterLines = lines })
            stack.backend.inject(.stream { $0.cutAfterLines = 20 })
            let (answer, applied) = try await device.pull()
            #expect(applied.log == [])
            #expect(try await stack.figures(of: answer)["resumes"] == "2")
            try await stack.expectAsFresh(device)
        }
    }

    @Test(arguments: SchemaApp.all, ["0s", "30s"])
    func `23: where the answer was lost the same migration comes again`(_ app: SchemaApp, _ window: String) async throws
    {
        try await GatewayStack.with(app.options(["pull.repeat_window": window])) { stack in
            var device = try await Self.updated(app, stack)
            let lost = try await device.pullLosingAnswer()
            let (answer, applied) = try await device.pull()
            let (first, second) = (try PulledChanges(lost), try PulledChanges(answer))
            #expect(second.bringsTheSame(as: first) && second.cursor > first.cursor && !first.isEmpty)
            if app.hasLedger { #expect(applied.log == []) }
            try await stack.expectAsFresh(device)
            try await device.expectPull([])
        }
    }

    @Test(arguments: SchemaApp.all)
    func `what changes between a lost answer and its repetition comes with the migration`(
        _ app: SchemaApp
    ) async throws {
        try await GatewayStack.with(app.options(["pull.repeat_window": "0s"])) { stack in
            var device = try await Self.updated(app, stack)
            try await device.pullLosingAnswer()
            try await stack.backend.edit(
                .put("tags", ["id": "new", "label": "again"]), .put("tags", ["id": "newer", "label": "newer"]),
                .put("tasks", ["id": "t-9", "dueAt": 1_600_000_000_000]), .delete("tags", "ada-tag-1"),
                .delete("comments", "c-0"))
            let (answer, _) = try await device.pull()
            #expect(try await stack.migration(of: answer) == "1 to 3")
            try await stack.expectAsFresh(device)
        }
    }

    @Test(arguments: [SchemaApp.documented, .silent])
    func `a gateway that is started again after a lost answer knows where the device is`(
        _ app: SchemaApp
    ) async throws {
        let options = app.options()
        try await GatewayStack.withBackend(options) { backend, directory in
            var device = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                let device = try await Self.updated(app, stack)
                try await device.pullLosingAnswer()
                return device
            }
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                device.http = stack.http
                let (answer, _) = try await device.pull()
                #expect(try await stack.migration(of: answer) == "1 to 3")
                try await stack.expectAsFresh(device)
            }
        }
    }

    @Test(arguments: [SchemaApp.documented, .silent])
    func `a reset in the middle of a migration brings both`(_ app: SchemaApp) async throws {
        try await GatewayStack.with(app.options()) { stack in
            var device = try await Self.updated(app, stack)
            try await stack.lose("tasks", ["t-20"])
            try await stack.demandReset()
            let (answer, _) = try await device.pull()
            #expect(try await stack.figures(of: answer)["restart"] == "reset")
            try await stack.expectAsFresh(device)
            try await device.expectPull([])
        }
    }
}
