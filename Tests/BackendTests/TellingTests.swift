// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Logging
import SyncModel
import Testing

/// What the log says at `info` of answers that are not as they should be.
@Suite struct TellingTests {
    typealias Attempt = @Sendable (BackendClient) async throws -> Void

    private static func call(_ method: String, _ target: String) -> Call {
        Call(method: method, target: [.text(target)])
    }

    private static let attempts: [(name: String, place: String, attempt: Attempt)] = [
        (
            "principal", "GET backend_path=/api/users/me",
            { _ = try await $0.value(of: call("GET", "/users/me?fields=id"), at: Path(name: "id"), caller) }
        ),
        ("list", "GET backend_path=/api/sync/ack", { _ = try await $0.list(caller) }),
        ("ack", "POST backend_path=/api/sync/ack", { try await $0.acknowledge(["A|1"], caller) }),
        ("forget", "DELETE backend_path=/api/sync/ack", { try await $0.forget(namespaces: ["A"], caller) }),
        (
            "stream", "POST backend_path=/api/sync/stream",
            { _ = try await $0.openStream(types: ["A"], vector: CheckpointVector(), caller) }
        ),
    ]

    private static func told(_ backend: ScriptedBackend) -> [String] {
        backend.log.entries.filter { $0.level >= .info }.map(\.text)
    }

    @Test func `one line at info names the call, its path without a query, the status and the code`() async throws {
        for (status, code) in [(418, "backend.refused"), (500, "backend.failed"), (302, "backend.status")] {
            for (name, place, attempt) in Self.attempts {
                try await ScriptedBackend.run(answer: Answer(status: "\(status) No", body: "secret words")) { backend in
                    await #expect(throws: BackendError.self) { try await attempt(backend.client) }
                    let lines = Self.told(backend)
                    #expect(lines.count == 1)
                    let line = try #require(lines.first)
                    #expect(line.contains("call=\(name)") && line.contains("backend_method=\(place)"))
                    #expect(line.contains("backend_status=\(status)") && line.contains("code=\(code)"))
                    #expect(!line.contains("secret") && !line.contains("fields=id"))
                }
            }
        }
    }

    @Test func `a login page instead of JSON is named as what it is`() async throws {
        let page = Answer(fields: ["Content-Type: text/html"], body: "<html>secret words</html>")
        for (name, place, attempt) in Self.attempts where !["ack", "forget"].contains(name) {
            try await ScriptedBackend.run(answer: page) { backend in
                await #expect(throws: BackendError.self) { try await attempt(backend.client) }
                let lines = Self.told(backend)
                #expect(lines.count == 1)
                #expect(lines.first?.contains("text/html") == true)
                #expect(lines.first?.contains(place) == true && lines.first?.contains("secret") == false)
            }
        }
    }

    @Test(arguments: [401, 403])
    func `a credential that is not accepted is everyday, and no line`(status: Int) async throws {
        for (_, _, attempt) in Self.attempts {
            try await ScriptedBackend.run(answer: Answer(status: "\(status) No")) { backend in
                await #expect(throws: BackendError.self) { try await attempt(backend.client) }
                #expect(Self.told(backend).isEmpty)
            }
        }
    }

    @Test(arguments: [404, 405, 501])
    func `an ack path that is not there is told from tokens that are refused`(status: Int) async throws {
        try await ScriptedBackend.run(answer: Answer(status: "\(status) No")) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.acknowledge(["A|1"], caller)
            }
            #expect(error?.code == "backend.ack_refused")
            #expect(error?.isOutcomeUnknown == false && error?.isTransient == false)
            #expect(Self.told(backend).first?.contains("code=backend.ack_refused") == true)
        }
        try await ScriptedBackend.run(answer: Answer(status: "400 No")) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.acknowledge(["A|1"], caller)
            }
            #expect(error?.code == "backend.refused")
        }
    }
}
