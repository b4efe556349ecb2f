// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import JSONBytes
import NIOCore

/// The demo's own client: one request, and the curl command that does the same.
struct DemoRequest {
    var method = HTTPRequest.Method.get
    var url: String
    var token: String?
    /// A JSON document.
    var body: JSONValue?

    /// The command for a shell, over several lines.
    var curl: [String] {
        var words = "curl -sS"
        if method != .get, !(method == .post && body != nil) { words += " -X \(method.rawValue)" }
        var lines = ["\(words) '\(url)'"]
        if let token { lines.append("  -H 'Authorization: Bearer \(token)'") }
        if let body {
            lines.append("  -H 'Content-Type: application/json'")
            let text = String(decoding: body.serialised, as: UTF8.self)
            lines.append("  -d '\(text.replacing("'", with: "'\\''"))'")
        }
        return lines
    }

    /// Sends it.
    func send(_ reactor: CurlReactor) async throws -> HTTPExchange {
        var request = CurlRequest(method: method, url: url)
        if let token { request.fields[.authorization] = "Bearer \(token)" }
        if let body {
            request.fields[.contentType] = "application/json"
            request.body = .bytes(ByteBuffer(bytes: body.serialised))
        }
        return try await HTTPExchange.run(request, reactor)
    }
}
