// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import StateStore
import Testing

/// Where a state is looked for, and what is said when there is none.
@Suite struct NewStateTests {
    /// A gateway with the quickstart's configuration in a directory, started from another one.
    private static func serve(
        _ backend: DemoBackend, in directory: URL, from working: URL, key: String? = nil, state: String? = nil,
        _ body: (RunningCommand) async throws -> Void
    ) async throws {
        let file = directory.appending(path: "rind.ini").path(percentEncoded: false)
        try Place.text("examples/quickstart/rind.ini").write(toFile: file, atomically: true, encoding: .utf8)
        let url = try await backend.url
        var environment: [String: String] = [:]
        environment["RIND_IDENTITY_KEY"] = key
        environment["RIND_STATE_URL"] = state
        try await CommandPermits.with {
            let command = try ServedGateway.start(
                in: working, backend: url, environment: environment, configuration: file)
            defer { command.signal(SIGKILL) }
            try await body(command)
        }
    }

    /// Runs a gateway until it serves, ends it, and returns its log.
    private static func served(
        _ backend: DemoBackend, in directory: URL, from working: URL, key: String? = nil, state: String? = nil
    ) async throws -> String {
        var log = ""
        try await serve(backend, in: directory, from: working, key: key, state: state) { command in
            _ = await command.errorMatch(#"port"?[=:]"?[0-9]+"#)
            command.signal(SIGTERM)
            log = await command.finished().error
        }
        return log
    }

    @Test func `a relative path is relative to the configuration, and a new state is told of once`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Place.withDirectory { directory in
                try await Place.withDirectory { working in
                    let first = try await Self.served(backend, in: directory, from: working)
                    let state = directory.appending(path: "rind-state.db").path(percentEncoded: false)
                    #expect(first.contains("state made anew at \(state)") && first.contains("code=state.new"))
                    #expect(!first.contains("state.sibling"))
                    #expect(try FileManager.default.contentsOfDirectory(atPath: working.path()) == [])
                    let second = try await Self.served(backend, in: directory, from: directory)
                    #expect(!second.contains("state.new"))
                }
            }
        }
    }

    @Test func `a state with the same identity key beside a new one is named, and one with another key is not`()
        async throws
    {
        try await DemoBackend.withRunning { backend in
            try await Place.withDirectory { directory in
                _ = try await Self.served(backend, in: directory, from: directory)
                let (old, new) = (directory.appending(path: "rind-state.db"), directory.appending(path: "old.db"))
                try FileManager.default.moveItem(at: old, to: new)
                try Data("no database".utf8).write(to: directory.appending(path: "other.db"))
                let told = try await Self.served(backend, in: directory, from: directory)
                #expect(told.contains("code=state.sibling") && told.contains("old.db") && !told.contains("other.db"))
                try FileManager.default.removeItem(at: old)
                let key = String(repeating: "k", count: 40)
                let silent = try await Self.served(backend, in: directory, from: directory, key: key)
                #expect(silent.contains("code=state.new") && !silent.contains("state.sibling"))
            }
        }
    }

    @Test func `a state of the same name elsewhere does not stop one whose whole path is written`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Place.withDirectory { directory in
                try await Place.withDirectory { working in
                    _ = try await Self.served(backend, in: working, from: working)
                    let path = directory.appending(path: "rind-state.db").path(percentEncoded: false)
                    let log = try await Self.served(
                        backend, in: directory, from: working, state: "sqlite:\(path)")
                    #expect(log.contains("code=state.new"))
                }
            }
        }
    }

    @Test func `a state in the working directory, where earlier versions looked, is not replaced by an empty one`()
        async throws
    {
        try await DemoBackend.withRunning { backend in
            try await Place.withDirectory { directory in
                try await Place.withDirectory { working in
                    _ = try await Self.served(backend, in: working, from: working)
                    try await Self.serve(backend, in: directory, from: working) { command in
                        let result = await command.finished()
                        #expect(result.status == 78 && result.error.contains("state.elsewhere"))
                    }
                    let file = directory.appending(path: "rind.ini").path(percentEncoded: false)
                    let check = try await RunningCommand.run(
                        "check", "--connect", "--config", file,
                        environment: ["RIND_BACKEND_URL": try await backend.url], directory: working)
                    #expect(check.out.contains("state.elsewhere"), "\(check.out)")
                    let files = try FileManager.default.contentsOfDirectory(atPath: directory.path())
                    #expect(files == ["rind.ini"])
                }
            }
        }
    }

    @Test func `a gateway does not start where no device could sync`() async throws {
        try await StateFixture.with { state in
            var changes = RowChanges()
            changes.rows[StateEpochs.key] = ByteRow(key: StateEpochs.key, version: 1, bytes: [1, 2])
            try await state.store.commit(changes)
            await state.store.close()
            let result = try await state.run("serve")
            #expect(result.status == 74 && result.error.contains("state.corrupt"), "\(result.error)")
        }
    }
}
