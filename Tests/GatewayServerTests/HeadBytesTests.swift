// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import GatewayConfig
import GatewayServer
import NIOCore
import NIOHTTP1
import SyncModel
import Testing

/// Bytes of fields that are not ASCII, both ways.
@Suite struct HeadBytesTests {
    @Test func `a request whose fields are not UTF-8 is refused`() async throws {
        try await Support.withServer { port in
            for name in ["Authorization: Bearer ", "X-Name: "] {
                try await RawClient.connect(to: port) { client in
                    var bytes = ByteBuffer(string: "GET /a HTTP/1.1\r\nHost: h\r\n\(name)")
                    bytes.writeBytes([0x4A, 0xF6])
                    bytes.writeString("\r\n\r\n")
                    try await client.send(bytes)
                    let answer = try RawAnswer(try await client.readToEnd())
                    #expect(answer.status == 400 && answer.field("Rind-Error") == "request.malformed")
                }
            }
        }
    }

    @Test(arguments: [
        ("/sync", "X-Device-Name: ", 200), ("/sync", "X-User: ", 400), ("/sync", "Cookie: ", 400),
        ("/other", "X-Device-Name: ", 400),
    ])
    func `a field in Latin-1 that decides nothing does not stop a sync`(
        path: String, field: String, status: Int
    ) async throws {
        try await Support.withServer { port in
            try await RawClient.connect(to: port) { client in
                var bytes = ByteBuffer(string: "GET \(path)?last_pulled_at=null HTTP/1.1\r\nHost: h\r\n\(field)")
                bytes.writeBytes([0x4A, 0xF6])
                bytes.writeString("\r\nConnection: close\r\n\r\n")
                try await client.send(bytes)
                #expect(try RawAnswer(try await client.readToEnd()).status == status)
            }
        }
    }

    @Test func `a name in an answer comes through, in UTF-8 and in Latin-1`() async throws {
        let latin = "Content-Disposition: attachment; filename=\"J\u{F6}rg\""
        try await ScriptedBackend.run { peer in
            while let head = try await peer.head() {
                var bytes = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")
                if head.uri == "/latin" {
                    bytes.writeBytes(latin.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
                } else {
                    bytes.writeString(latin)
                }
                bytes.writeString("\r\n\r\n")
                try await peer.send(bytes)
            }
        } _: { backendPort in
            try await Support.withServer(StubService(), Support.configuration(backendPort: backendPort)) { port in
                for target in ["/latin", "/utf8"] {
                    try await RawClient.connect(to: port) { client in
                        try await client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
                        // The client shows a scalar for each byte.
                        let bytes = try await client.read(through: "\r\n\r\n").unicodeScalars.map {
                            UInt8(truncatingIfNeeded: $0.value)
                        }
                        #expect(String(decoding: bytes, as: UTF8.self).contains(latin))
                    }
                }
            }
        }
    }
}
