// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

/// What passes through has its own share of the connections to the backend.
@Suite(.timeLimit(.minutes(5))) struct ConnectionShareTests {
    @Test(arguments: [[:], ["backend.pass_through_connections": "3"]])
    func `uploads that never end do not keep syncs from the backend`(_ share: [String: String]) async throws {
        let overrides = ["backend.max_connections": "4", "backend.connect_timeout": "1s"]
        try await GatewayStack.with(StackOptions(overrides.merging(share) { $1 })) { stack in
            try await stack.seed(tasks: 3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let uploads = Latch()
                for _ in 0..<8 {
                    group.addTask {
                        try await stack.http.withConnection { connection in
                            let fields = GatewayStack.headers("ada-token", ["Content-Length": "100000"])
                            await connection.write(stack.http.request("POST", "/tasks", headers: fields))
                            await connection.write([UInt8](repeating: 32, count: 1_000))
                            await uploads.pass()
                        }
                    }
                }
                try await eventually { await uploads.arrivals == 8 }
                for _ in 0..<3 {
                    let answer = try await stack.sendPull()
                    #expect(answer.status == 200)
                }
                await uploads.open()
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
        }
    }

    /// Bodies of which only a part comes: short ones, and ones for which the backend is asked at once.
    private static let unfinished: [(fields: [String: String], part: String)] = [
        (["Content-Length": "500"], "{"),
        (["Content-Length": "100000"], String(repeating: " ", count: 1_000)),
        (["Transfer-Encoding": "chunked"], "1\r\n{\r\n"),
    ]

    @Test func `uploads that never end do not keep other requests from passing through`() async throws {
        let overrides = ["backend.max_connections": "8", "backend.connect_timeout": "1s"]
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let uploads = Latch()
                for index in 0..<12 {
                    group.addTask {
                        try await stack.http.withConnection { connection in
                            let (fields, part) = Self.unfinished[index % 3]
                            let head = GatewayStack.headers(nil, fields)
                            await connection.write(stack.http.request("POST", "/login", headers: head))
                            await connection.write(Array(part.utf8))
                            await uploads.pass()
                        }
                    }
                }
                try await eventually { await uploads.arrivals == 12 }
                for _ in 0..<3 {
                    let answer = try await stack.send(
                        "POST", "/projects", token: "ada-token", body: Array(#"{"id":"p","name":"n"}"#.utf8))
                    #expect([200, 201, 409].contains(answer.status), "\(answer)")
                    #expect(try await stack.send("GET", "/projects/p", token: "ada-token").status < 500)
                }
                await uploads.open()
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
        }
    }
}
