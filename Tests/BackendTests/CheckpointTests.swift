// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import GatewayTesting
import NIOCore
import SyncModel
import Testing

@Suite struct CheckpointTests {
    @Test func `tokens are set in batches, in their order`() async throws {
        try await ScriptedBackend.run {
            $0.ackBatch = 2
        } answer: { _, peer in
            try await peer.write("HTTP/1.1 204 No Content\r\n\r\n")
        } _: { backend in
            for batch in backend.client.ackBatches(of: ["A|1", "B|2", "C|3", "D|4", "E|5"]) {
                try await backend.client.acknowledge(batch, caller)
            }
            #expect(
                backend.requests.map(\.text) == [
                    #"{"acks":["A|1","B|2"]}"#, #"{"acks":["C|3","D|4"]}"#, #"{"acks":["E|5"]}"#,
                ])
            #expect(backend.requests.allSatisfy { $0.line == "POST /api/sync/ack HTTP/1.1" })
            #expect(backend.requests.allSatisfy { $0.field("authorization") == "Bearer secret-token" })
        }
    }

    @Test func `an empty list is never sent`() async throws {
        try await ScriptedBackend.run(answer: Answer()) { backend in
            #expect(backend.client.ackBatches(of: []).isEmpty)
            try await backend.client.forget(namespaces: [], caller)
            #expect(backend.requests.isEmpty)
        }
    }

    @Test func `namespaces are forgotten by name, or all of them without a list`() async throws {
        try await ScriptedBackend.run(answer: Answer(status: "204 No Content")) { backend in
            try await backend.client.forget(namespaces: ["AlbumV1", "AlbumDeleteV1"], caller)
            try await backend.client.forgetAll(caller)
            #expect(backend.requests.map(\.text) == [#"{"types":["AlbumV1","AlbumDeleteV1"]}"#, "{}"])
            #expect(backend.requests.allSatisfy { $0.line == "DELETE /api/sync/ack HTTP/1.1" })
        }
    }

    @Test func `a failure is thrown, and whether the backend has set anything is unknown`() async throws {
        try await ScriptedBackend.run(answer: Answer(status: "500 Oh")) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.acknowledge(["A|1", "B|2", "C|3"], caller)
            }
            #expect(error?.code == "backend.failed")
            #expect(error?.isOutcomeUnknown == true)
            #expect(backend.requests.count == 1)
        }
    }

    @Test func `the list gives each token to the namespace that it names itself`() async throws {
        let body = #"""
            [{"type":"AlbumV1","ack":"AlbumV1|7"},{"type":"SyncAckV1","ack":"AlbumAssetUpdateV2|9"},
             {"ack":"opaque","type":"Plain","more":[1]},{"type":"AlbumV1","ack":"AlbumV1|8"}]
            """#
        try await ScriptedBackend.run(answer: Answer(body: body)) { backend in
            let vector = try await backend.client.list(caller)
            #expect(
                vector.tokens == [
                    "AlbumV1": "AlbumV1|8", "AlbumAssetUpdateV2": "AlbumAssetUpdateV2|9", "Plain": "opaque",
                ]
            )
            #expect(backend.requests.first?.line == "GET /api/sync/ack HTTP/1.1")
        }
    }

    @Test func `the list may stand deeper, under other names`() async throws {
        try await ScriptedBackend.run {
            $0.list?.returns = Path([.name("data"), .index(0)])
            $0.typeField = "t"
            $0.ackField = "token"
        } answer: { _, peer in
            try await peer.answer(#"{"data":[[{"t":"A","token":"A|1"}]]}"#)
        } _: { backend in
            let vector = try await backend.client.list(caller)
            #expect(vector.tokens == ["A": "A|1"])
        }
    }

    @Test(arguments: [
        "", "null", "{}", "[", "[1]", #"[{"type":"A"}]"#, #"[{"type":"A","ack":1}]"#, #"[{"type":"","ack":"x"}]"#,
        #"[{"type":"A","ack":""}]"#, #"[{"type":"A","ack":"123456789"}]"#,
        #"[{"type":"A","ack":"1"},{"type":"B","ack":"2"},{"type":"C","ack":"3"}]"#,
    ])
    func `a list that is not one is an error, never a shorter vector`(body: String) async throws {
        try await ScriptedBackend.run {
            $0.maximumCheckpoints = 2
            $0.maximumTokenBytes = 8
        } answer: { _, peer in
            try await peer.answer(body)
        } _: { backend in
            let error = await #expect(throws: BackendError.self) { try await backend.client.list(caller) }
            #expect(error?.code == "backend.answer")
        }
    }

    @Test func `a list without end is cut off at the limit`() async throws {
        try await ScriptedBackend.run {
            $0.maximumAnswerBytes = 1000
        } answer: { _, peer in
            try await peer.write("HTTP/1.1 200 OK\r\n\r\n[")
            while true { try await peer.write(#"{"type":"A","ack":"A|1"},"#) }
        } _: { backend in
            let error = await #expect(throws: BackendError.self) { try await backend.client.list(caller) }
            #expect(error?.code == "backend.answer_too_large")
        }
    }

    @Test func `a call that is not configured is named`() async throws {
        try await ScriptedBackend.run {
            $0.acknowledge = nil
            $0.list = nil
            $0.forget = nil
            $0.streamPush = nil
        } answer: { _, peer in
            try await peer.answer()
        } _: { backend in
            let attempts: [(BackendClient) async throws -> Void] = [
                { try await $0.acknowledge(["A"], caller) },
                { _ = try await $0.list(caller) },
                { try await $0.forget(namespaces: ["A"], caller) },
                { try await $0.forgetAll(caller) },
                { _ = try await $0.pushStream(.none, count: 0, key: "k", caller) },
            ]
            for attempt in attempts {
                let error = await #expect(throws: BackendError.self) { try await attempt(backend.client) }
                #expect(error?.code == "backend.not_configured")
            }
            #expect(backend.requests.isEmpty)
        }
    }
}
