// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import SyncModel
import Testing

struct HostileTests {
    @Test(arguments: [
        [], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [UInt8](repeating: 0, count: 64),
        [UInt8](repeating: 0xFF, count: 4_096), FakeServer.message("R", [0, 0, 0, 99]),
        FakeServer.message("E", Array("SFATAL\0Mhostile \u{1B}[2J\ntext \u{202E}\0\0".utf8)),
        FakeServer.message("R", [0, 0, 0, 0]) + FakeServer.message("Z", Array("I".utf8)),
    ])
    func `a server that is none is unreachable, and its words are harmless`(bytes: [UInt8]) async throws {
        try await FakeServer.with(first: bytes, then: nil) { port in
            try await PostgresPool.with(conninfo(port)) { pool in
                let error = await postgresError {
                    _ = try await pool.query("SELECT 1", .readOnly, within: .milliseconds(500))
                }
                guard case .unreachable(let text) = error else { throw IssueError(error) }
                #expect(!text.unicodeScalars.contains(where: ForeignText.isHostile))
            }
        }
    }

    @Test(arguments: [
        Array("garbage".utf8), [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 4_096),
        // A row that nothing announces, a row with a wrong number of columns, an error without fields, a COPY.
        FakeServer.message("D", [0, 1, 0, 0, 0, 1, 65]),
        FakeServer.message("T", [0, 1, 65, 0] + [UInt8](repeating: 0, count: 18)) + FakeServer.message("D", [0, 9]),
        FakeServer.message("E", [0]), FakeServer.message("G", [0, 0, 0]), FakeServer.message("Z", Array("I".utf8)),
        FakeServer.message("1", []) + FakeServer.message("2", []) + FakeServer.message("C", Array("COMMIT\0".utf8)),
    ])
    func `an answer that is none ends in an error, not in a trap or a wait`(bytes: [UInt8]) async throws {
        try await FakeServer.with(first: FakeServer.welcome, then: bytes) { port in
            for mode in [PostgresMode.readOnly, .readWrite] {
                try await PostgresPool.with(conninfo(port)) { pool in
                    let error = await postgresError {
                        _ = try await pool.query("SELECT 1", mode, within: .milliseconds(500))
                    }
                    #expect(error.map { "\($0)".unicodeScalars.contains(where: ForeignText.isHostile) } == false)
                }
            }
        }
    }

    private func conninfo(_ port: Int) -> String {
        "host=127.0.0.1 port=\(port) user=postgres sslmode=disable gssencmode=disable"
    }
}
