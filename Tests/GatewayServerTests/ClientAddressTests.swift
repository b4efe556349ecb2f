// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayConfig
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import GatewayServer

/// Who a client is, by the word of proxies.
@Suite(.timeLimit(.minutes(1))) struct ClientAddressTests {
    static func fields(_ pairs: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    private static let proxies = TrustedProxies(
        ["127.0.0.0/8", "10.0.0.0/8", "fd00::/8"].compactMap { AddressRange($0) })

    @Test(
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("6.6.6.6, 192.0.2.7", "192.0.2.7"),
            ("6.6.6.6, 192.0.2.7, 10.1.2.3", "192.0.2.7"), ("10.9.9.9, 10.1.2.3,fd00::1", "10.9.9.9"),
            ("192.0.2.7:4711", "192.0.2.7"), ("[2001:db8::7]:4711", "2001:db8::7"), ("2001:db8::7", "2001:db8::7"),
            ("::ffff:10.1.2.3", "::ffff:10.1.2.3"), ("6.6.6.6, unknown", nil), ("unknown, 10.1.2.3", "10.1.2.3"),
            ("", nil), (",", nil), ("192.0.2.7, \u{1B}[2J", nil), (String(repeating: "1", count: 46), nil),
            ("6.6.6.6,, 10.1.2.3", "10.1.2.3"), ("192.0.2.256", nil), ("6.6.6.6, ::ffff:192.0.2.7", "::ffff:192.0.2.7"),
        ] as [(String, String?)])
    func `the client is the last that is no proxy, and what is before it counts nothing`(chain: String, client: String?)
    {
        #expect(Self.proxies.client(of: chain) == client)
    }

    @Test(
        arguments: [
            ([("X-Forwarded-For", "a, b"), ("Forwarded", "for=6.6.6.6;proto=https;host=evil")], "a, b", nil, nil),
            ([("X-Forwarded-Proto", "HTTPS"), ("Forwarded", "for=6.6.6.6")], nil, "https", nil),
            ([("X-Forwarded-For", "a"), ("X-Forwarded-For", "b")], "a, b", nil, nil),
            ([("Forwarded", "for=192.0.2.7;proto=HTTPS;host=app.test")], "192.0.2.7", "https", "app.test"),
            (
                [("Forwarded", "For=\"[2001:db8::7]:4711\";by=x"), ("Forwarded", " for=10.0.0.1 ; Proto=http")],
                "2001:db8::7, 10.0.0.1", "http", nil
            ),
            ([("Forwarded", #"for="_a\"b";host="x;y,z""#)], "_a\"b", nil, "x;y,z"),
            ([("Forwarded", "proto=https")], "unknown", "https", nil),
            ([("Forwarded", #"for="192.0.2.7"#)], nil, nil, nil), ([("Forwarded", "for")], nil, nil, nil),
            ([("Forwarded", "for=a;for=b")], nil, nil, nil), ([("Forwarded", "")], nil, nil, nil),
            ([("Forwarded", "=a")], nil, nil, nil), ([], nil, nil, nil),
        ] as [([(String, String)], String?, String?, String?)])
    func `fields of a proxy say who asks, by which scheme and for which host`(
        fields: [(String, String)], addresses: String?, scheme: String?, host: String?
    ) {
        let stated = StatedOrigin(Self.fields(fields))
        #expect(stated.addresses == addresses && stated.scheme == scheme && stated.host == host)
    }

    @Test func `at a Unix socket the owner's group is served, and believed as a proxy`() async throws {
        let path = "/tmp/rind-\(UUID().uuidString).sock"
        defer { unlink(path) }
        let log = LogLines()
        let piece = String(repeating: "x", count: 1 << 20)
        let service = StubService(onPull: { _, _ in StubPull([String](repeating: piece, count: 8)) })
        for _ in 0..<2 {
            // The second time the file is there already.
            let configuration = Support.changed { $0.gateway.listen = ListenAddress(path: path) }
            try await Support.withServer(service, configuration, log: log) { _ in
                var status = stat()
                #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
                try await RawClient.connect(to: SocketAddress(unixDomainSocketPath: path)) { client in
                    try await client.send(
                        "GET /sync HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\nConnection: close\r\n\r\n")
                    let answer = try RawAnswer(try await client.readToEnd())
                    #expect(answer.status == 200 && answer.body?.utf8.count == 8 << 20)
                }
            }
        }
        #expect(log.lines.filter { $0.message == "sync" }.map { $0.metadata["client"] } == ["192.0.2.7", "192.0.2.7"])
        #expect(log.lines.contains { $0.message == "listening" && $0.metadata["path"] == path })
    }

    @Test(
        arguments: [
            ("127.0.0.0/8", "X-Forwarded-For: 6.6.6.6, 192.0.2.7", "192.0.2.7", "6.6.6.6, 192.0.2.7, 127.0.0.1"),
            ("127.0.0.0/8", "Forwarded: for=192.0.2.7", "192.0.2.7", "192.0.2.7, 127.0.0.1"),
            ("127.0.0.0/8", "X-Other: 1", "127.0.0.1", "127.0.0.1"),
            ("10.0.0.0/8", "X-Forwarded-For: 6.6.6.6", "127.0.0.1", "127.0.0.1"),
            ("10.0.0.0/8", "Forwarded: for=6.6.6.6", "127.0.0.1", "127.0.0.1"),
        ])
    func `the log and a sync have the client's address, and only a trusted proxy changes it`(
        trusted: String, field: String, client: String, chain: String
    ) async throws {
        let log = LogLines()
        let seen = NIOLockedValueBox(HTTPFields())
        let service = StubService(onPull: { _, caller in
            seen.withLockedValue { $0 = caller.originFields }
            return StubPull(["{}"])
        })
        let configuration = Support.changed { $0.gateway.trustedProxies = [AddressRange(trusted)].compactMap { $0 } }
        try await Support.withServer(service, configuration, log: log) { port in
            let answer = try await RawClient.exchange(
                port, "GET /sync HTTP/1.1\r\nHost: app.test\r\n\(field)\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 200)
        }
        #expect(log.lines.first { $0.message == "sync" }?.metadata["client"] == client)
        let fields = seen.withLockedValue { $0 }
        #expect(fields[.forwardedFor] == chain)
        #expect(fields[.forwardedProto] == "http" && fields[.forwardedHost] == "app.test")
    }
}
