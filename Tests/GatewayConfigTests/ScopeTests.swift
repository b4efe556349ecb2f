// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import SyncModel
import Testing

/// What calls use of the addresses of syncs; `Fixtures/scope.ini` has the mistakes.
@Suite struct ScopeTests {
    private static let path = """
        stream = POST /v1/{path.team}/stream body {"types":"{types}","checkpoints":"{checkpoints}"}
        checkpoints = request

        """

    private static func load(_ backend: String, _ more: String = "") throws -> Configuration {
        try Configuration.load(
            "[identity]\nprincipal = bearer\nkey = \(Support.key)\n[backend]\nurl = http://backend.test\n\(backend)\n\(more)"
        )
    }

    @Test func `what calls use is the scope, and it is known what stands in a path`() throws {
        let configuration = try Self.load(
            """
            stream = POST /{path.team}/stream?farm={query.farm_id} body {"types":"{types}","checkpoints":"{checkpoints}",
              "of":["{query.year}", "x{query.farm_id}"]}
            checkpoints = request
            """,
            "[gateway]\nsync_path = /v1/{team}/sync\n[wire]\nscope = farm_id, year\n[push]\npath = POST /push/{query.farm_id}"
        )
        #expect(
            configuration.scope == [
                ScopeName(.path, "team"): true, ScopeName(.query, "farm_id"): true, ScopeName(.query, "year"): false,
            ])
        #expect(configuration.wire.scope == ["farm_id", "year"])
    }

    @Test func `paths that nobody has set and that lack a part which calls use are not served`() throws {
        let both = try Self.load(Self.path, "[gateway]\nsync_path = /v1/{team}/sync")
        #expect(both.gateway.syncPath?.description == "/v1/{team}/sync")
        #expect(both.gateway.pullPath.isEmpty && both.gateway.pushPath.isEmpty)
        let apart = try Self.load(
            Self.path, "[gateway]\npull_path = /v1/{team}/pull, /{team}/pull\npush_path = /v1/{team}/push")
        #expect(apart.gateway.syncPath == nil && apart.gateway.pullPath.count == 2)
        let query = try Self.load(
            #"stream = POST /stream?f={query.f} body {"types":"{types}","checkpoints":"{checkpoints}"}"#
                + "\ncheckpoints = request", "[wire]\nscope = f")
        #expect(query.gateway.syncPath != nil && query.gateway.pullPath.count == 1)
    }

    @Test func `a segment that no call uses is served as ever, with a warning`() throws {
        let (configuration, diagnostics) = Support.load(
            Support.minimal("[gateway]\nsync_path = /v1/{team}/sync\n[wire]\nscope = farm_id"))
        #expect(configuration?.scope == [:] && configuration?.gateway.pullPath.count == 1)
        #expect(
            Set(diagnostics.map(\.message)).isSuperset(of: [
                "no call uses {path.team}: apps get the same records whatever they say there",
                "no call uses {query.farm_id}: apps get the same records whatever they say there",
            ]))
    }

    @Test func `paths that match the same requests must mean the same by a part`() {
        let messages = Support.messages(
            Support.minimal(
                Self.path
                    + "[gateway]\nsync_path =\npull_path = /a/{team}/{b}\npush_path = /a/{b}/{team}, /c/{b}/{team}"))
        #expect(
            messages.filter { $0.contains("is another segment in '/a/{team}/{b}' than in '/a/{b}/{team}'") }.count == 1)
        #expect(!messages.contains { $0.contains("/c/") })
    }

    @Test func `who the caller is does not depend on the scope`() {
        let messages = Support.messages(
            Support.minimal(identity: "principal = backend:GET /{path.team}/me id\nkey = \(Support.key)"))
        #expect(messages.contains { $0.contains("there are no placeholders here") })
    }
}
