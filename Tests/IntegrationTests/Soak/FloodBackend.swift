// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import NIOCore

/// What the backend says to the clients of a flood; everybody else's requests go on to the demo backend.
enum FloodBackend {
    /// The size of the stream that a slow reader's pull brings.
    static let streamSize = 20 << 20

    /// The relay's script.
    static func course(_ request: inout RelayedRequest) -> BackendRelay.Course {
        let method = request.method
        guard let token = request.token, token.hasPrefix("reader-") else {
            return .pass { RelayedAnswer(bytes: AnswerMutator.faithful($0, method: method, mark: "")) }
        }
        return switch (method, request.target) {
        case ("GET", "/users/me"): .answer(answer(#"{"id":"reader"}"#))
        case ("POST", "/sync/stream"): .answer(stream)
        case ("GET", "/sync/ack"): .answer(answer("[]"))
        case (_, "/sync/ack"): .answer(ByteBuffer(string: "HTTP/1.1 204 No Content\r\n\r\n"))
        default: .answer(answer("{}"))
        }
    }

    private static func answer(_ json: String) -> ByteBuffer {
        ByteBuffer(
            string:
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)"
        )
    }

    /// Few rows with long texts: what is flooded is answers, not ledgers.
    private static let stream: ByteBuffer = {
        var body = ByteBuffer()
        let note = String(repeating: "slow and steady ", count: 512)
        var number = 0
        while body.readableBytes < streamSize {
            number += 1
            body.writeString(
                #"{"type":"TaskV2","data":{"id":"flood-\#(number)","projectId":"p","name":"task","position":1,"#
                    + #""isDone":false,"note":"\#(note)","createdAt":"2026-01-02T03:04:05.678Z","#
                    + #""updatedAt":"2026-01-02T03:04:05.678Z","dueAt":null},"ack":"TaskV2|\#(number)"}"# + "\n")
        }
        body.writeString(#"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|1"}"# + "\n")
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/jsonlines+json\r\nContent-Length: "
        var all = ByteBuffer(string: head + "\(body.readableBytes)\r\n\r\n")
        all.writeBuffer(&body)
        return all
    }()
}
