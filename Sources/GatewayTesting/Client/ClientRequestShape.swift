// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// The form in which an app sends the library's calls over HTTP: the five shapes of the recordings.
package enum ClientRequestShape: String, CaseIterable, Sendable {
    /// The documentation's: arguments in the query, changes bare in a `text/plain` body.
    case docs
    /// The same as `application/json`.
    case docsJSON = "docs-json"
    /// The documentation's before 0.17: no schema version and no migration.
    case docsOld = "docs-old"
    /// Camel case in the query, an envelope in the body, no time in the query of a push.
    case camel
    /// `POST` for both, on paths of their own.
    case postPull = "post-pull"

    /// One request.
    package struct Request: Hashable, Sendable {
        /// `GET` or `POST`.
        package var method: String
        /// Path and query.
        package var target: String
        /// The body's type; nil without a body.
        package var contentType: String?
        /// The body.
        package var body: [UInt8] = []
    }

    /// Returns the request of a pull.
    package func pull(_ arguments: ClientPullArguments, path: String = "/sync") -> Request {
        let time = arguments.lastPulledAt.map(JavaScriptNumber.text)
        let migration = arguments.migration.map(\.json) ?? .null
        let encoded = Self.encodeURIComponent(migration.serialised)
        switch self {
        case .docs, .docsJSON:
            let query = "last_pulled_at=\(time ?? "null")&schema_version=\(arguments.schemaVersion)"
            return Request(method: "GET", target: "\(path)?\(query)&migration=\(encoded)")
        case .docsOld: return Request(method: "GET", target: "\(path)?last_pulled_at=\(time ?? "null")")
        case .camel:
            let query = "lastPulledAt=\(time ?? "0")&schemaVersion=\(arguments.schemaVersion)"
            return Request(method: "GET", target: "\(path)?\(query)&migration=\(encoded)")
        case .postPull:
            let body = JSONValue.object([
                .init("lastPulledAt", Self.number(arguments.lastPulledAt)),
                .init("schemaVersion", .integer(Int64(arguments.schemaVersion))), .init("migration", migration),
            ])
            return Request(
                method: "POST", target: path + "/pull", contentType: "application/json", body: body.serialised)
        }
    }

    /// Returns the request of a push, whose time is that of the pull before it.
    package func push(_ changes: ClientLocalChanges, lastPulledAt: Double?, path: String = "/sync") -> Request {
        let json = changes.json
        switch self {
        case .docs, .docsJSON, .docsOld:
            let time = lastPulledAt.map(JavaScriptNumber.text) ?? "null"
            let type = self == .docsJSON ? "application/json" : "text/plain;charset=UTF-8"
            return Request(
                method: "POST", target: "\(path)?last_pulled_at=\(time)", contentType: type, body: json.serialised)
        case .camel, .postPull:
            let body = JSONValue.object([
                .init("changes", json), .init("lastPulledAt", Self.number(lastPulledAt)),
            ])
            let target = self == .camel ? path : path + "/push"
            return Request(method: "POST", target: target, contentType: "application/json", body: body.serialised)
        }
    }

    private static func number(_ value: Double?) -> JSONValue {
        value.map { ClientValue.number($0).json } ?? .null
    }

    /// Encodes bytes as JavaScript's function of this name does (ECMA-262, 19.2.6.4).
    private static func encodeURIComponent(_ bytes: [UInt8]) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()".utf8)
        return bytes.map { byte in
            if plain.contains(byte) { return String(UnicodeScalar(byte)) }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
