// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import GatewayServer

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

    /// The fields as the backend gets them from a peer, which is trusted on this machine.
    private func passed(_ sent: HTTPFields, from peer: String?, proxyFields: [String] = []) -> HTTPFields {
        let isTrusted = peer == local
        let origin = PassedFields.Origin(
            peer: peer, requestID: "id-1", isTrusted: isTrusted, stated: isTrusted ? StatedOrigin(sent) : StatedOrigin()
        )
        return PassedFields.toBackend(sent, from: origin, proxyFields: proxyFields)
    }

    private let remote = "203.0.113.9"
    private let local = "127.0.0.1"

    @Test func `fields of the connection stay on it, both ways`() {
        let sent = fields([
            "Connection": "close, X-Hop, keep-alive", "X-Hop": "1", "Keep-Alive": "5", "TE": "trailers",
            "Trailer": "X-T", "Transfer-Encoding": "chunked", "Upgrade": "h2c", "Proxy-Connection": "close",
            "Proxy-Authorization": "Basic x", "HTTP2-Settings": "a", "Expect": "100-continue", "Content-Length": "3",
            "X-Kept": "1", "Range": "bytes=0-1", "If-None-Match": "\"a\"", "Accept-Encoding": "br",
        ])
        let passed = self.passed(sent, from: nil)
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
            let passed = self.passed(fields([name: "/sync/ack"]), from: origin)
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
        let passed = self.passed(sent, from: local, proxyFields: listed)
        #expect(
            names(passed) == [
                "remote_user", "via", "x-auth-request-user", "x-forwarded-for", "x-forwarded-groups",
                "x-forwarded-host", "x-forwarded-proto", "x-request-id",
            ])
        let stranger = self.passed(sent, from: remote, proxyFields: listed)
        #expect(names(stranger) == ["via", "x-forwarded-for", "x-forwarded-proto", "x-request-id"])
    }

    @Test func `the backend hears where a request comes from`() {
        let sent = fields([
            "Host": "sync.example.com", "X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "https",
            "X-Forwarded-Host": "evil", "X-Request-Id": "theirs", "Via": "1.1 cdn",
        ])
        let passed = self.passed(sent, from: remote)
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
        let passed = self.passed(sent, from: local)
        #expect(value(passed, "X-Forwarded-For") == "203.0.113.9, 127.0.0.1")
        #expect(value(passed, "X-Forwarded-Proto") == "https")
        #expect(value(passed, "X-Forwarded-Host") == "sync.example.com")
        let odd = self.passed(fields(["X-Forwarded-Proto": "gopher"]), from: local)
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
