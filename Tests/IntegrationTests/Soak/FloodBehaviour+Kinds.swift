// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

extension FloodBehaviour {
    private static func head(_ line: String, _ fields: String...) -> [UInt8] {
        Array(([line + " HTTP/1.1", "Host: gateway.example"] + fields).joined(separator: "\r\n").utf8)
            + Array("\r\n\r\n".utf8)
    }

    /// First syncs of 20 MB, each by a session of its own of one account, taken at 8 KiB a second.
    static let slowReaders = FloodBehaviour(
        name: "slow reader", count: 200,
        opening: { client, _ in
            head("GET \(GatewayStackTargets.firstPull)", "Authorization: Bearer reader-\(client)")
        },
        reading: (4 << 10, .milliseconds(500)), pause: .seconds(5))

    /// Pushes of 128 MiB in 129 KB of gzip, of which the last bytes drip.
    static func halfSentBodies() throws -> FloodBehaviour {
        let spaces = [UInt8](repeating: UInt8(ascii: " "), count: (128 << 20) - 100)
        let body = try gzip(Array(#"{"tasks":"#.utf8) + spaces + Array("{}}".utf8))
        return FloodBehaviour(
            name: "half-sent body", count: 5,
            opening: { client, _ in
                head(
                    "POST /sync?last_pulled_at=1700000000000", "Authorization: Bearer reader-\(client)",
                    "Content-Type: application/json", "Content-Encoding: gzip", "Content-Length: \(body.count)")
                    + body.dropLast(400)
            },
            drip: ({ [rest = Array(body.suffix(400))] in [rest[$0 % rest.count]] }, .seconds(2)), pause: .seconds(5))
    }

    /// Bodies of requests that pass through, a byte a second.
    static let uploads = FloodBehaviour(
        name: "upload", count: 300,
        opening: { client, _ in
            head(
                "POST /uploads/\(client)", "Authorization: Bearer reader-\(client)",
                "Content-Type: application/octet-stream", "Content-Length: 10000000")
        },
        drip: ({ _ in [0x78] }, .seconds(1)))

    /// Connections on which nothing happens.
    static let idle = FloodBehaviour(name: "idle", count: 1_100)

    /// Pushes and pulls with credentials that nobody has given to anybody, a new one each time.
    static let strangers = FloodBehaviour(
        name: "stranger", count: 1_000,
        opening: { client, attempt in
            let token = "made-up-\(client)-\(attempt)"
            guard (client + attempt) % 2 == 0 else {
                return head("GET \(GatewayStackTargets.firstPull)", "Authorization: Bearer \(token)")
            }
            let ids = (0..<200).map { #""\#(token)-\#($0)""# }.joined(separator: ",")
            let body = Array(#"{"tasks":{"created":[],"updated":[],"deleted":[\#(ids)]}}"#.utf8)
            return head(
                "POST /sync?last_pulled_at=1700000000000", "Authorization: Bearer \(token)",
                "Content-Type: application/json", "Content-Length: \(body.count)") + body
        },
        leavesAfterAnswer: true, pause: .seconds(5))
}

/// Targets of requests as the documentation's client writes them.
private enum GatewayStackTargets {
    static let firstPull = "/sync?last_pulled_at=null&schema_version=3&migration=null"
}
