// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import GatewayServer

/// The PROXY protocol, and what proxies state in header fields.
@Suite(.timeLimit(.minutes(1))) struct ProxyHeaderTests {
    private static let signature = "\r\n\r\n\0\r\nQUIT\n"
    private static let get = "GET /sync HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    private static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
        Array(signature.utf8) + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 255)] + rest
    }

    private static let four: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x12, 0x34, 1, 187]
    private static let six: [UInt8] =
        [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 0, count: 16) + [
            1, 2, 3, 4,
        ]

    static let headers: [(bytes: [UInt8], header: ProxyHeader)] = [
        (Array("PROXY TCP4 192.0.2.7 10.0.0.1 4711 443\r\n".utf8), .complete(source: "192.0.2.7")),
        (Array("PROXY TCP6 2001:db8::7 ::1 4711 443\r\n".utf8), .complete(source: "2001:db8::7")),
        (Array("PROXY UNKNOWN\r\n".utf8), .complete(source: nil)),
        (Array("PROXY UNKNOWN what ever\r\n".utf8), .complete(source: nil)),
        (Array("PROXY TCP4 192.0.2.7 10.0.0.1 4711\r\n".utf8), .invalid),
        (Array("PROXY TCP4 192.0.2.7 10.0.0.1 4711 65536\r\n".utf8), .invalid),
        (Array("PROXY TCP4 2001:db8::7 ::1 4711 443\r\n".utf8), .invalid),
        (Array("PROXY TCP4 192.0.2.777 10.0.0.1 4711 443\r\n".utf8), .invalid),
        (Array("PROXY TCP4 192.0.2.7 10.0.0.1 4711 443\n".utf8), .invalid),
        (Array(("PROXY " + String(repeating: "x", count: 101)).utf8), .invalid),
        (Array("PROXY TCP4 192.0.2.7".utf8), .incomplete),
        (Array("PRO".utf8), .incomplete), ([], .incomplete), (Array("\r\n".utf8), .incomplete),
        (Array(get.utf8), .invalid), (Array("proxy TCP4".utf8), .invalid),
        (binary(0x21, 0x11, four), .complete(source: "192.0.2.7")),
        (binary(0x21, 0x11, four + [3, 0, 4, 1, 2, 3, 4]), .complete(source: "192.0.2.7")),
        (binary(0x21, 0x21, six), .complete(source: "2001:db8::7")),
        (binary(0x20, 0x11, four), .complete(source: nil)), (binary(0x21, 0x00, []), .complete(source: nil)),
        (binary(0x21, 0x31, [UInt8](repeating: 0, count: 216)), .complete(source: nil)),
        (binary(0x21, 0x11, Array(four.dropLast())), .invalid), (binary(0x21, 0x12, four), .invalid),
        (binary(0x22, 0x11, four), .invalid), (binary(0x11, 0x11, four), .invalid),
        (binary(0x21, 0x11, [UInt8](repeating: 0, count: 4_097)), .invalid),
        (Array(binary(0x21, 0x11, four).dropLast()), .incomplete),
        (Array(binary(0x21, 0x11, four).prefix(14)), .incomplete),
    ]

    @Test(arguments: headers)
    func `a header is read as the protocol says, whatever comes`(bytes: [UInt8], header: ProxyHeader) {
        var buffer = ByteBuffer(bytes: bytes)
        #expect(ProxyHeader.read(from: &buffer) == header)
        guard case .complete = header else { return }
        #expect(buffer.readableBytes == 0)
        // Byte by byte, with a request behind it.
        var slow = ByteBuffer()
        for byte in bytes.dropLast() {
            slow.writeInteger(byte)
            #expect(ProxyHeader.read(from: &slow) == .incomplete)
        }
        slow.writeBytes(bytes.suffix(1))
        slow.writeString("GET")
        #expect(ProxyHeader.read(from: &slow) == header && slow.readableBytes == 3)
    }

    /// Runs a server with the PROXY protocol, and returns the clients that its log names.
    private static func clients(
        trusting ranges: [String] = ["127.0.0.0/8"], _ body: @Sendable (Int) async throws -> Void
    ) async throws -> [String?] {
        let log = LogLines()
        let configuration = Support.changed {
            $0.gateway.proxyProtocol = true
            $0.gateway.trustedProxies = ranges.compactMap { AddressRange($0) }
        }
        try await Support.withServer(StubService(), configuration, log: log, body)
        return log.lines.filter {
            ["sync", "connections were closed, since they do not come from a proxy as they should"]
                .contains($0.message)
        }.map { $0.metadata["code"] ?? $0.metadata["client"] }
    }

    @Test(arguments: [Array("PROXY TCP4 192.0.2.7 10.0.0.1 4711 443\r\n".utf8), binary(0x21, 0x11, four)])
    func `the client is the one that the proxy names, in one piece and in many`(header: [UInt8]) async throws {
        let clients = try await Self.clients { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(ByteBuffer(bytes: header + Array(Self.get.utf8)))
                #expect(try RawAnswer(try await client.readToEnd()).status == 200)
            }
            try await RawClient.connect(to: port) { client in
                for byte in header { try await client.send(ByteBuffer(bytes: [byte])) }
                for byte in Self.get.utf8 { try await client.send(ByteBuffer(bytes: [byte])) }
                #expect(try RawAnswer(try await client.readToEnd()).status == 200)
            }
        }
        #expect(clients == ["192.0.2.7", "192.0.2.7"])
    }

    @Test func `a connection without the header is closed, and so is one from a stranger`() async throws {
        for (ranges, text) in [
            (["127.0.0.0/8"], Self.get), (["10.0.0.0/8"], "PROXY TCP4 192.0.2.7 10.0.0.1 4711 443\r\n" + Self.get),
        ] {
            let clients = try await Self.clients(trusting: ranges) { port in
                try await RawClient.connect(to: port) { client in
                    try await client.send(text)
                    #expect(try await client.readToEnd() == "")
                }
            }
            #expect(clients == ["proxy.header"])
        }
    }

    @Test func `whom the proxy names may not speak for others`() async throws {
        let clients = try await Self.clients { port in
            let answer = try await RawClient.exchange(
                port,
                "PROXY TCP4 192.0.2.7 10.0.0.1 4711 443\r\nGET /sync HTTP/1.1\r\nHost: a\r\n"
                    + "X-Forwarded-For: 6.6.6.6\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 200)
        }
        #expect(clients == ["192.0.2.7"])
    }
}
