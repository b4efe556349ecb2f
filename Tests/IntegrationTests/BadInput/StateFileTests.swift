// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import GatewayTesting
import SQLiteState
import StateStore
import Testing

/// States that cannot be used: a clear error, and the file as it was.
@Suite(.timeLimit(.minutes(5))) struct StateFileTests {
    /// A state with one device in it, and what was done to its file.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: String
        let apply: @Sendable (String) throws -> Void

        static let all = [
            Damage(testDescription: "made by a newer gateway", code: "state.schema_newer") { path in
                try StateDump.execute("PRAGMA user_version = 99", path: path)
            },
            Damage(testDescription: "another program's database", code: "state.not_rind") { path in
                try StateDump.execute("PRAGMA application_id = 7", path: path)
            },
            Damage(testDescription: "no database", code: "state.not_rind") { path in
                try Data("this is no database, but a text of some length".utf8).write(to: URL(filePath: path))
            },
            Damage(testDescription: "cut short", code: "state.corrupt") { path in
                let data = try Data(contentsOf: URL(filePath: path))
                try data.prefix(data.count / 2).write(to: URL(filePath: path))
            },
            Damage(testDescription: "a directory", code: "state.open") { path in
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            },
        ]
    }

    @Test(arguments: Damage.all)
    func `a state that cannot be used stops the start, and is left as it is`(_ damage: Damage) async throws {
        try await GatewayStack.withBackend { backend, directory in
            let path = "\(directory)/state.db"
            try await GatewayStack.with(StackOptions(), backend: backend, directory: directory) { stack in
                try await stack.seed(tasks: 6)
                _ = try PulledChanges(await stack.sendPull())
            }
            try damage.apply(path)
            let before = try? Data(contentsOf: URL(filePath: path))
            do {
                try await GatewayStack.with(StackOptions(), backend: backend, directory: directory) { stack in
                    _ = try PulledChanges(await stack.sendPull())
                    try await stack.store.check(thoroughly: true)
                }
                Issue.record("the gateway started")
            } catch let error as StateError {
                #expect(error.code == damage.code, "\(error)")
            }
            #expect((try? Data(contentsOf: URL(filePath: path))) == before)
        }
    }

    @Test func `a full disk is a clear error that loses nothing and passes`() async throws {
        var options = StackOptions(["pull.repeat_window": "0s"])
        try await GatewayStack.withBackend(options) { backend, directory in
            options.state.maximumPages = 80
            let cursor = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await stack.seed(tasks: 6)
                let cursor = try PulledChanges(await stack.sendPull()).cursor
                var answer = try await stack.sendPull(cursor)
                for round in 0..<2_000 where answer.status == 200 {
                    // Lines in quarantine are kept, each different.
                    try await backend.edit(.put("tasks", ["id": .string("t-\(round)"), "name": "new"]))
                    backend.inject(.stream { $0.malformed[0] = .invalidJSON })
                    answer = try await stack.sendPull(cursor)
                }
                #expect(answer.outcome == "503 state.full" && answer["Retry-After"] != nil)
                backend.clearFaults()
                #expect(try await stack.send("GET", "/livez").status == 200)
                return cursor
            }
            options.state.maximumPages = nil
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                let answer = try PulledChanges(await stack.sendPull(cursor))
                #expect(answer.updated["tasks"]?.isEmpty == false)
            }
        }
    }

    @Test func `a state that is replaced while the gateway runs is noticed`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            _ = try PulledChanges(await stack.sendPull())
            let copy = stack.statePath + ".copy"
            try FileManager.default.copyItem(atPath: stack.statePath, toPath: copy)
            try FileManager.default.removeItem(atPath: stack.statePath)
            try FileManager.default.moveItem(atPath: copy, toPath: stack.statePath)
            #expect(try await stack.send("GET", "/readyz").outcome == "503 state.replaced")
        }
    }
}
