// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Curl

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Answers that lie in a socket whose server has reset the connection.
@Suite struct EarlyAnswerTests {
    private static func read(_ text: String, isEnded: Bool = false, _ method: String = "POST") -> String? {
        EarlyAnswer(Array(text.utf8), isEnded: isEnded, answering: method, headLimit: 1_000)
            .map { "\($0.lines.count) lines, \(String(decoding: $0.body, as: UTF8.self))" }
    }

    @Test(arguments: [
        ("HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nbig", "3 lines, big"),
        ("HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nbigger", "3 lines, big"),
        ("HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nbi\r\n1\r\ng\r\n0\r\n\r\n", "3 lines, big"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n", "5 lines, "),
        ("HTTP/1.1 204 No\r\n\r\n", "2 lines, "),
    ])
    func `a whole answer is taken`(text: String, expected: String) {
        #expect(Self.read(text) == expected)
    }

    @Test(arguments: [
        "", "HTTP/1.1 413 No\r\n", "HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nbi", "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbig\r\n",
        "HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbi",
        "HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nbig\r\n0\r\n\r\n",
        "HTTP/1.1 413 No\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nbig",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 413 No\r\nX: \(String(repeating: "x", count: 1_000))\r\n\r\n",
        "HTTP/1.1 413 No\r\nContent-Length: 70000\r\n\r\n\(String(repeating: "x", count: 70_000))",
    ])
    func `half an answer, or none, is not taken`(text: String) {
        #expect(Self.read(text, isEnded: true) == nil)
    }

    @Test func `an answer that ends with its connection is whole only if that has ended in good order`() {
        let text = "HTTP/1.0 413 No\r\n\r\nbig"
        #expect(Self.read(text) == nil)
        #expect(Self.read(text, isEnded: true) == "2 lines, big")
        #expect(Self.read(text, "HEAD") == "2 lines, ")
    }

    @Test(arguments: [
        "413 No\r\nContent-Length: 3\r\n\r\nbig",
        "413 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbig\r\n0\r\n\r\n",
    ])
    func `what came before a reset is there although the connection's own descriptor is closed`(
        answer: String
    ) async throws {
        let (server, client) = try Self.connection()
        let kept = try #require(KeptSocket(client))
        // Unread bytes of the request make the server's close a reset.
        #expect(send(client, "body", 4, Int32(MSG_NOSIGNAL)) == 4)
        let text = "HTTP/1.1 " + answer
        #expect(send(server, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count)
        close(server)
        #expect(send(client, "more", 4, Int32(MSG_NOSIGNAL)) == -1, "libcurl's CURLE_SEND_ERROR")
        close(client)
        let found = kept.answer(to: "POST", headLimit: 1_000)
        #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == "big")
    }

    /// Two ends of a connection over the loopback.
    private static func connection() throws -> (server: Int32, client: Int32) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &size) == 0 && connect(client, address, size) == 0
            }
        }
        try #require(isReady)
        return (accept(listener, nil, nil), client)
    }
}
