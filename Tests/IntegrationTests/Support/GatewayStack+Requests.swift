// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting

extension GatewayStack {
    /// Sends a request with a credential on a connection of its own.
    func send(
        _ method: String, _ target: String, token: String? = "ada-token", _ fields: [String: String] = [:],
        body: [UInt8] = []
    ) async throws -> RawAnswer {
        try await http.send(method, target, headers: Self.headers(token, fields), body: body)
    }

    /// The header fields of a request with a credential.
    static func headers(_ token: String? = "ada-token", _ fields: [String: String] = [:]) -> [(String, String)] {
        let credential = token.map { [("Authorization", "Bearer \($0)")] } ?? []
        return credential + fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// A pull as the documentation's client sends it.
    func sendPull(
        _ cursor: Int64? = nil, version: Int = 3, token: String? = "ada-token", _ fields: [String: String] = [:]
    ) async throws -> RawAnswer {
        try await send("GET", Self.pullTarget(cursor, version: version), token: token, fields)
    }

    /// The target of a pull.
    static func pullTarget(_ cursor: Int64? = nil, version: Int = 3) -> String {
        let time = cursor.map { "\($0)" } ?? "null"
        return "/sync?last_pulled_at=\(time)&schema_version=\(version)&migration=null"
    }

    /// A push as the documentation's client sends it.
    func sendPush(
        _ cursor: Int64?, _ changes: DemoValue, token: String? = "ada-token", _ fields: [String: String] = [:]
    ) async throws -> RawAnswer {
        try await send("POST", Self.pushTarget(cursor), token: token, fields, body: Array(changes.json.utf8))
    }

    /// The target of a push.
    static func pushTarget(_ cursor: Int64?) -> String {
        cursor.map { "/sync?last_pulled_at=\($0)" } ?? "/sync"
    }
}

extension GatewayStack {
    /// The log's lines about syncs.
    ///
    /// A line is written after its answer has gone out, so the last one may be on its way still.
    var syncLines: [CapturedLog.Line] { log.lines.filter { $0.message == "sync" } }

    /// What the log says of the sync that was answered like this.
    func figures(of answer: RawAnswer) async throws -> [String: String] {
        let id = answer["X-Request-Id"]
        try await eventually { syncLines.contains { $0.metadata["request_id"] == id } }
        return syncLines.last { $0.metadata["request_id"] == id }?.metadata ?? [:]
    }
}
