// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import HTTPTypes
import SyncModel
import Testing

@Suite struct ForwardingTests {
    static let request: HTTPFields = {
        var fields: HTTPFields = [.authorization: "Bearer t", .cookie: "a=1", .range: "bytes=0-1"]
        fields[.connection] = "close, X-Hop"
        for (name, value) in [
            ("Host", "gateway"), ("X-Hop", "1"), ("X-User", "root"), ("X-Immich-User-Token", "u"), ("X-Other", "o"),
            ("Transfer-Encoding", "chunked"), ("Content-Length", "5"), ("Accept-Encoding", "br"),
            ("Expect", "100-continue"),
            ("If-None-Match", "x"), ("Idempotency-Key", "k"),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }()

    @Test func `what is listed goes on, and nothing else`() {
        let rule = ForwardingRule(listed: ["Authorization", "cookie", "x-immich-user-token"])
        let fields = rule.credentials(of: Self.request, isPeerTrusted: false).fields
        #expect(Set(fields.map(\.name.canonicalName)) == ["authorization", "cookie", "x-immich-user-token"])
        #expect(fields[.authorization] == "Bearer t")
        #expect(rule.ignored.isEmpty)
    }

    @Test(arguments: ForwardingRule.never.sorted())
    func `some fields are never forwarded, even if listed`(name: String) throws {
        let rule = ForwardingRule(listed: [name.uppercased(), "authorization"])
        var request = Self.request
        request[try #require(HTTPField.Name(name))] = "anything"
        request[.connection] = nil
        #expect(rule.credentials(of: request, isPeerTrusted: true).fields.map(\.name) == [.authorization])
        #expect(rule.ignored == [name])
    }

    @Test func `what the connection names ends with it`() {
        let rule = ForwardingRule(listed: ["x-hop", "x-other"])
        #expect(rule.credentials(of: Self.request, isPeerTrusted: true).fields.map(\.name.canonicalName) == ["x-other"])
    }

    @Test(arguments: [true, false])
    func `only a trusted proxy says who a client is`(isTrusted: Bool) {
        let rule = ForwardingRule(listed: ["x-user", "x-other"], identity: ["X-User"])
        let names = rule.credentials(of: Self.request, isPeerTrusted: isTrusted).fields.map(\.name.canonicalName)
        #expect(Set(names) == (isTrusted ? ["x-user", "x-other"] : ["x-other"]))
    }

    @Test func `a forwarded field never replaces what the gateway says itself`() async throws {
        try await ScriptedBackend.run(answer: Answer(body: "[]")) { backend in
            let rule = ForwardingRule(listed: ["accept", "accept-encoding", "content-type", "user-agent", "cookie"])
            var fields = Self.request
            fields[.accept] = "text/html"
            fields[.contentType] = "text/plain"
            fields[.userAgent] = "app/1"
            fields[.cookie] = "a=1; b=2"
            let credentials = rule.credentials(of: fields, isPeerTrusted: false)
            try await backend.client.acknowledge(["A|1"], credentials)
            let request = try #require(backend.requests.first)
            #expect(request.field("accept") == "application/json")
            #expect(request.field("content-type") == "application/json")
            #expect(request.field("accept-encoding") == nil)
            #expect(request.field("user-agent") == "app/1")
            #expect(request.field("cookie") == "a=1; b=2")
            #expect(request.field("host")?.hasPrefix("127.0.0.1:") == true)
        }
    }
}
