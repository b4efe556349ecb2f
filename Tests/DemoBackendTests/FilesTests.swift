// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct FilesTests {
    @Test func `a file is sent whole or in part`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let whole = try await client.send("GET", "/files/3MiB.bin")
            #expect(whole.status == 200)
            #expect(whole.body.count == 3 << 20)
            #expect(whole.headers["content-length"] == String(3 << 20))
            let blockStarts = stride(from: 0, to: whole.body.count, by: 1 << 16).map { Array(whole.body[$0..<$0 + 9]) }
            #expect(Set(blockStarts).count == 48)
            let cases: [(String, Int, Range<Int>)] = [
                ("bytes=0-9", 206, 0..<10),
                ("bytes=131075-131999", 206, 131_075..<132_000), ("bytes=70000-70009", 206, 70_000..<70_010),
                ("bytes=-5", 206, (3 << 20) - 5..<3 << 20), ("bytes=3145720-", 206, 3_145_720..<3 << 20),
                ("bytes=3145720-99999999", 206, 3_145_720..<3 << 20),
            ]
            for (range, status, expected) in cases {
                let part = try await client.send("GET", "/files/3MiB.bin", headers: ["range": range])
                #expect(part.status == status)
                #expect(part.body == Array(whole.body[expected]))
                let field = "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(3 << 20)"
                #expect(part.headers["content-range"] == field)
            }
        }
    }

    @Test(arguments: ["bytes=0-1,5-6", "bytes=x-", "lines=1-2", "bytes=9-3"])
    func `a range that is not understood gives the whole file`(range: String) async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let answer = try await client.send("GET", "/files/1000.bin", headers: ["range": range])
            #expect(answer.status == 200)
            #expect(answer.body.count == 1000)
        }
    }

    @Test func `a range outside of the file is a 416, and one for another version is ignored`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let outside = try await client.send("GET", "/files/1000.bin", headers: ["range": "bytes=1000-"])
            #expect(outside.status == 416)
            #expect(outside.headers["content-range"] == "bytes */1000")
            let other = try await client.send(
                "GET", "/files/1000.bin", headers: ["range": "bytes=0-1", "if-range": "\"other\""])
            #expect(other.status == 200)
        }
    }

    @Test func `a file that is known already is a 304`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let tag = try #require(try await client.send("GET", "/files/10.bin").headers["etag"])
            let again = try await client.send("GET", "/files/10.bin", headers: ["if-none-match": "\"x\", \(tag)"])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
    }

    @Test func `an upload is counted, and small ones can be had again`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let text = String(repeating: "0123456789", count: 100_000)
            let answer = try await client.send("POST", "/files", body: text)
            #expect(answer.status == 201)
            #expect(answer.json?["size"] == 1_000_000)
            let name = try #require(answer.json?["name"]?.string)
            #expect(try await client.send("GET", "/files/\(name)").text == text)
            let head = try await client.send("HEAD", "/files/\(name)")
            #expect(head.headers["content-length"] == "1000000")
            #expect(head.body.isEmpty)
            #expect(try await client.send("GET", "/files/nothing.txt").status == 404)
        }
    }
}
