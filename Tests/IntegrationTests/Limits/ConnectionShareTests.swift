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
}
