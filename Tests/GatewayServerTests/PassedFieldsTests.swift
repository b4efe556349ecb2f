// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayServer
import HTTPTypes
import Testing

@Suite struct PassedFieldsTests {
    private func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    private func names(_ fields: HTTPFields) -> [String] { fields.map { $0.name.canonicalName }.sorted() }

    private func value(_ fields: HTTPFields, _ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

    private let remote = PassedFields.Origin(peer: "203.0.113.9", requestID: "id-1")
    private let local = PassedFields.Origin(peer: "127.0.0.1", requestID: "id-1")

    @Test(
        arguments: [
            ("203.0.113.9", nil, "203.0.113.9"), ("203.0.113.9", "192.0.2.7", "203.0.113.9"),
            ("127.0.0.1", nil, "127.0.0.1"), ("127.0.0.1", "6.6.6.6, 192.0.2.7", "192.0.2.7"),
            ("::1", "2001:db8::7", "2001:db8::7"), ("127.0.0.1", "unknown", "127.0.0.1"),
            ("127.0.0.1", "192.0.2.7, \u{1B}[2J", "127.0.0.1"), ("127.0.0.1", "", "127.0.0.1"),
            ("127.0.0.1", String(repeating: "1", count: 46), "127.0.0.1"), (nil, "192.0.2.7", nil),
        ] as [(String?, String?, String?)])
    func `a client's address is the peer's, or what a proxy on this machine says last`(
        peer: String?, forwarded: String?, client: String?
    ) {
        #expect(PassedFields.client(from: peer, forwardedFor: forwarded) == client)
    }

    @Test func `fields of the connection stay on it, both ways`() {
        let sent = fields([
            "Connection": "close, X-Hop, keep-alive", "X-Hop": "1", "Keep-Alive": "5", "TE": "trailers",
            "Trailer": "X-T", "Transfer-Encoding": "chunked", "Upgrade": "h2c", "Proxy-Connection": "close",
            "Proxy-Authorization": "Basic x", "HTTP2-Settings": "a", "Expect": "100-continue", "Content-Length": "3",
            "X-Kept": "1", "Range": "bytes=0-1", "If-None-Match": "\"a\"", "Accept-Encoding": "br",
        ])
        let passed = PassedFields.toBackend(sent, from: PassedFields.Origin(peer: nil, requestID: "id-1"))
        #expect(
            names(passed) == [
                "accept-encoding", "if-none-match", "range", "via", "x-forwarded-proto", "x-kept", "x-request-id",
            ])
        let answered = PassedFields.toClient(sent, replacingCrossOrigin: false)
        #expect(names(answered) == ["accept-encoding", "if-none-match", "range", "via", "x-kept"])
    }

    @Test(arguments: [
        "Forwarded", "X-Real-IP", "X-Forwarded-User", "X-Forwarded-Port", "X-Original-URL", "X-Rewrite-URL",
        "Remote-User", "True-Client-IP", "CF-Connecting-IP", "X_Forwarded_For", "Remote_User", "X_Anything", "Proxy",
        "X-Auth-Request-User", "X-Auth-Request-Anything", "SSL-Client-Cert", "X-SSL-Client-S-DN", "X-Client-Cert",
        "X-WebAuth-User", "x-goog-authenticated-user-email", "X-Scheme", "Front-End-Https",
    ])
    func `a client does not speak for a proxy`(name: String) {
        for origin in [local, remote] {
            let passed = PassedFields.toBackend(fields([name: "/sync/ack"]), from: origin)
            #expect(names(passed) == ["via", "x-forwarded-for", "x-forwarded-proto", "x-request-id"])
            #expect(!passed.contains { $0.value.contains("/sync/ack") })
        }
    }

    @Test func `the proxy on this machine may set what the operator lists, and nobody else`() {
        let sent = fields([
            "X-Auth-Request-User": "ada", "Remote_User": "ada", "X-Forwarded-Groups": "a", "X-Forwarded-Host": "h",
            "Proxy": "http://evil",
        ])
        let listed = ["x-auth-request-user", "remote_user", "x-forwarded-groups", "x-forwarded-host"]
        let passed = PassedFields.toBackend(sent, from: local, proxyFields: listed)
        #expect(
            names(passed) == [
                "remote_user", "via", "x-auth-request-user", "x-forwarded-for", "x-forwarded-groups",
                "x-forwarded-host", "x-forwarded-proto", "x-request-id",
            ])
        let stranger = PassedFields.toBackend(sent, from: remote, proxyFields: listed)
        #expect(names(stranger) == ["via", "x-forwarded-for", "x-forwarded-proto", "x-request-id"])
    }

    @Test func `the backend hears where a request comes from`() {
        let sent = fields([
            "Host": "sync.example.com", "X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "https",
            "X-Forwarded-Host": "evil", "X-Request-Id": "theirs", "Via": "1.1 cdn",
        ])
        let passed = PassedFields.toBackend(sent, from: remote)
        #expect(value(passed, "X-Forwarded-For") == "203.0.113.9")
        #expect(value(passed, "X-Forwarded-Proto") == "http")
        #expect(value(passed, "X-Forwarded-Host") == "sync.example.com")
        #expect(value(passed, "X-Request-Id") == "id-1")
        #expect(value(passed, "Via") == "1.1 cdn, 1.1 rind")
        #expect(value(passed, "Host") == nil)
    }

    @Test func `a proxy on this machine is believed`() {
        let sent = fields([
            "Host": "127.0.0.1:8790", "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "HTTPS",
            "X-Forwarded-Host": "sync.example.com",
        ])
        let passed = PassedFields.toBackend(sent, from: local)
        #expect(value(passed, "X-Forwarded-For") == "203.0.113.9, 127.0.0.1")
        #expect(value(passed, "X-Forwarded-Proto") == "https")
        #expect(value(passed, "X-Forwarded-Host") == "sync.example.com")
        let odd = PassedFields.toBackend(fields(["X-Forwarded-Proto": "gopher"]), from: local)
        #expect(value(odd, "X-Forwarded-Proto") == "http")
    }

    @Test func `one voice speaks to browsers`() {
        let answer = fields([
            "Access-Control-Allow-Origin": "*", "ETag": "\"a\"", "Set-Cookie": "a=1", "set-cookie": "b=2",
        ])
        #expect(
            names(PassedFields.toClient(answer, replacingCrossOrigin: true)) == [
                "etag", "set-cookie", "set-cookie", "via",
            ])
        #expect(
            names(PassedFields.toClient(answer, replacingCrossOrigin: false)).contains("access-control-allow-origin"))
    }
}
