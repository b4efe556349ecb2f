// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gzip
import HTTPTypes
import NIOCore

/// One request and its whole answer, for commands that are clients themselves.
struct HTTPExchange {
    /// The most bytes of an answer, decompressed.
    static let maximumBody = 2 << 30

    let status: Int
    let fields: HTTPFields
    let body: [UInt8]
    let duration: Duration

    /// Sends the request and reads all of the answer.
    ///
    /// - Throws: `CurlError`, or what the body's decompression throws.
    static func run(_ request: CurlRequest, _ reactor: CurlReactor) async throws -> HTTPExchange {
        var request = request
        request.fields[.acceptEncoding] = "gzip"
        if request.fields[.userAgent] == nil { request.fields[.userAgent] = "rind/\(Version.number)" }
        let start = ContinuousClock.now
        let response = try await reactor.execute(request)
        var body: [UInt8] = []
        if response.fields[.contentEncoding]?.lowercased() == "gzip" {
            for try await chunk in InflatingSequence(response.body, limit: maximumBody) {
                body += chunk.readableBytesView
            }
        } else {
            body = Array(try await response.body.collect(upTo: maximumBody).readableBytesView)
        }
        return HTTPExchange(
            status: response.status.code, fields: response.fields, body: body, duration: ContinuousClock.now - start)
    }

    /// True if the status is one of success.
    var isSuccess: Bool { (200..<300).contains(status) }

    /// The stable code of an error, where the server is Rind.
    var errorCode: String? { HTTPField.Name("rind-error").flatMap { fields[$0] } }

    /// The server's sentence in an error, on one line and cut.
    var sentence: String {
        let text = String(decoding: body.prefix(2_048), as: UTF8.self).shown(upTo: 500)
        let words = text.split(separator: " ").joined(separator: " ")
        return words.isEmpty ? "(no body)" : words
    }
}
