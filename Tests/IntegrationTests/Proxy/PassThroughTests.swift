// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Whatever is no sync passes through to the backend and back as it is.
@Suite(.timeLimit(.minutes(5))) struct PassThroughTests {
    /// The bytes of the backend's generated files: blocks of 64 KiB that begin with their number.
    static func file(_ range: Range<Int>) -> [UInt8] {
        range.map { place in
            let (block, offset) = place.quotientAndRemainder(dividingBy: 64 << 10)
            if offset < 8 { return UInt8(truncatingIfNeeded: block >> ((7 - offset) * 8)) }
            return UInt8(truncatingIfNeeded: offset &* 31 &+ offset >> 8)
        }
    }

    @Test func `a login passes through, and its token is good for a sync`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let body = Array(#"{"email":"ada@example.com","password":"demo"}"#.utf8)
            let login = try await stack.send(
                "POST", "/auth/login?next=%2Fhome", token: nil, ["Content-Type": "application/json"], body: body)
            #expect(login.status == 201 && login["Set-Cookie"]?.hasPrefix("demo_access_token=") == true)
            #expect(stack.backend.requests.last?.query == "next=%2Fhome")
            let token = try #require(DemoValue(parsing: login.body)?["accessToken"]?.string)
            #expect(try await stack.sendPull(token: token).status == 200)
            let wrong = try await stack.send(
                "POST", "/auth/login", token: nil, body: Array(#"{"email":"ada@example.com","password":"x"}"#.utf8))
            #expect(wrong.status == 401 && wrong.errorCode == nil && wrong.text.contains("Incorrect"))
        }
    }

    @Test func `files come whole, in parts, or not at all where the client has them`() async throws {
        try await GatewayStack.with { stack in
            let size = 300_000
            let whole = try await stack.send("GET", "/files/\(size).bin")
            #expect(whole.status == 200 && whole.isComplete && whole.body == Self.file(0..<size))
            #expect(whole["Content-Length"] == "\(size)" && whole["Accept-Ranges"] == "bytes")
            let tag = try #require(whole["ETag"])

            let part = try await stack.send("GET", "/files/\(size).bin", ["Range": "bytes=1000-70999"])
            #expect(part.status == 206 && part.body == Self.file(1_000..<71_000))
            #expect(part["Content-Range"] == "bytes 1000-70999/\(size)")
            let tail = try await stack.send("GET", "/files/\(size).bin", ["Range": "bytes=-10", "If-Range": tag])
            #expect(tail.status == 206 && tail.body == Self.file(size - 10..<size))
            let outside = try await stack.send("GET", "/files/\(size).bin", ["Range": "bytes=\(size)-"])
            #expect(outside.status == 416 && outside["Content-Range"] == "bytes */\(size)")

            let known = try await stack.send("GET", "/files/\(size).bin", ["If-None-Match": tag])
            #expect(known.status == 304 && known.body.isEmpty && known.isComplete && known["ETag"] == tag)
            let head = try await stack.send("HEAD", "/files/\(size).bin")
            #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == "\(size)")
            #expect(try await stack.send("GET", "/files/none").status == 404)
        }
    }

    @Test(arguments: [true, false])
    func `an upload comes through byte by byte, with a length and without`(_ isChunked: Bool) async throws {
        try await GatewayStack.with { stack in
            let bytes = Self.file(0..<1_000_000)
            var headers = GatewayStack.headers("ada-token", ["Content-Type": "image/jpeg"])
            var body = bytes
            if isChunked {
                headers.append(("Transfer-Encoding", "chunked"))
                let pieces = stride(from: 0, to: bytes.count, by: 70_000).map {
                    Array(bytes[$0..<min($0 + 70_000, bytes.count)])
                }
                body = pieces.flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
                body += Array("0\r\n\r\n".utf8)
            }
            let answer = try await stack.http.send("POST", "/files", headers: headers, body: body)
            let name = try #require(DemoValue(parsing: answer.body)?["name"]?.string)
            #expect(answer.status == 201 && DemoValue(parsing: answer.body)?["size"] == 1_000_000)
            #expect(try await stack.send("GET", "/files/\(name)").body == bytes)
        }
    }

    @Test func `a client that asks first is told to go on, and several requests share a connection`() async throws {
        try await GatewayStack.with { stack in
            let headers = GatewayStack.headers("ada-token", ["Expect": "100-continue", "Content-Length": "5"])
            let head = stack.http.request("POST", "/files", headers: headers)
            try await stack.http.withConnection { connection in
                await connection.write(head)
                let asked = await connection.bytes()
                #expect(String(decoding: asked, as: UTF8.self).hasPrefix("HTTP/1.1 100 "))
                await connection.write(Array("hello".utf8))
                let answer = try await connection.answer(to: "POST")
                #expect(answer.status == 201)
                // Two at once: the answers come in the order of the requests.
                let small = stack.http.request("GET", "/files/5.bin", headers: GatewayStack.headers())
                let live = stack.http.request("GET", "/livez")
                await connection.write(small + live)
                #expect(try await connection.answer().body == Self.file(0..<5))
                #expect(try await connection.answer().text == "ok\n")
            }
        }
    }

    @Test func `fields of one connection and what clients may not say stay behind, all others pass`() async throws {
        try await GatewayStack.with { stack in
            let sent = [
                "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=5", "TE": "trailers",
                "Proxy-Authorization": "secret", "Proxy-Connection": "close", "Forwarded": "for=1.2.3.4",
                // `Forwarded` counts only where a trusted proxy has sent none of these.
                "X-Forwarded-Proto": "http",
                "X-Real-IP": "1.2.3.4", "Remote-User": "root", "X-Original-URL": "/admin", "X-App": "kept",
                "Accept-Language": "de", "X-Request-Id": "mine-1",
            ]
            let answer = try await stack.send("GET", "/users/me", sent)
            #expect(answer.status == 200)
            let got = try #require(stack.backend.requests.last { $0.path == "/users/me" }).headers
            for name in [
                "x-hop", "keep-alive", "te", "proxy-authorization", "proxy-connection", "forwarded", "x-real-ip",
                "remote-user", "x-original-url",
            ] {
                #expect(got[name] == nil, "\(name)")
            }
            #expect(got["x-app"] == "kept" && got["accept-language"] == "de" && got["x-request-id"] == "mine-1")
            #expect(got["authorization"] == "Bearer ada-token" && got["via"] == "1.1 rind")
            #expect(got["x-forwarded-host"]?.hasPrefix("127.0.0.1") == true && got["x-forwarded-for"] == "127.0.0.1")
            #expect(got["connection"]?.lowercased().contains("x-hop") != true)
            #expect(answer["X-Request-Id"] == "mine-1")
        }
    }

    @Test func `answers of the backend pass as they are, errors too`() async throws {
        try await GatewayStack.with { stack in
            for status in [400, 404, 418, 429, 500, 503] {
                stack.backend.inject(DemoFault("GET", "/users/me", action: .status(status, retryAfter: 3)))
                let answer = try await stack.send("GET", "/users/me")
                #expect(answer.status == status && answer.errorCode == nil && answer.text.contains("told to fail"))
                #expect(answer["Retry-After"] == "3")
            }
            stack.backend.inject(DemoFault("POST", "/auth/login", action: .loseAnswer))
            let login = Array(#"{"email":"ada@example.com","password":"demo"}"#.utf8)
            let lost = try await stack.send("POST", "/auth/login", body: login)
            #expect(lost.outcome == "502 backend.closed")
            #expect(lost["Retry-After"] != nil)
        }
    }

    @Test func `a backend that is not there is an error of its own, and the gateway lives`() async throws {
        let options = StackOptions(["backend.resume_backoff": "2ms"])
        try await GatewayStack.withBackend(options) { backend, directory in
            // Nobody listens on port 1.
            var dead = options
            dead.overrides["backend.url"] = "http://127.0.0.1:1"
            try await GatewayStack.with(dead, backend: backend, directory: directory) { stack in
                for (method, target) in [("GET", "/users/me"), ("POST", "/files"), ("GET", GatewayStack.pullTarget())] {
                    let answer = try await stack.send(method, target, body: method == "POST" ? [1, 2, 3] : [])
                    #expect(answer.outcome == "502 backend.connect", "\(method) \(target)")
                    #expect(answer["Retry-After"] != nil && !answer.text.contains("127.0.0.1"))
                }
                #expect(try await stack.send("GET", "/livez").status == 200)
            }
        }
    }

    @Test func `with pass-through off only syncs are served`() async throws {
        try await GatewayStack.with(StackOptions(["backend.pass_through": "false"])) { stack in
            let answer = try await stack.send("GET", "/users/me")
            #expect(answer.outcome == "404 proxy.off")
            #expect(try await stack.sendPull().status == 200)
            #expect(stack.backend.requests.allSatisfy { $0.path != "/users/me" || $0.headers["via"] == nil })
        }
    }
}
