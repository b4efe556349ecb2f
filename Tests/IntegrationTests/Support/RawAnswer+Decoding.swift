// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Gzip
import NIOCore

extension RawAnswer {
    /// Status and code in one, for tables of expectations.
    var outcome: String { errorCode.map { "\(status) \($0)" } ?? "\(status)" }

    /// The same answer with its body decompressed, where it is.
    func inflated() throws -> RawAnswer {
        guard self["Content-Encoding"] == "gzip" else { return self }
        var answer = self
        answer.body = try gunzip(body)
        return answer
    }
}

/// Takes a chunked body apart, as far as it comes.
///
/// - Returns: The body, and whether it has its end.
func dechunked(_ bytes: some Collection<UInt8>) -> (body: [UInt8], isComplete: Bool) {
    var rest = Array(bytes)[...]
    var body: [UInt8] = []
    while let end = rest.firstIndex(of: 0x0D) {
        guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) else { break }
        if size == 0 { return (body, true) }
        rest = rest[end...].dropFirst(2)
        body += rest.prefix(size)
        rest = rest.dropFirst(size + 2)
    }
    return (body, false)
}

/// Decompresses a body.
func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let inflater = try Inflater(.gzip, limit: 1 << 28)
    var input = ByteBuffer(bytes: bytes)
    var output: [UInt8] = []
    while let chunk = try inflater.next(from: &input) { output += chunk.readableBytesView }
    try inflater.finish()
    return output
}

extension RawHTTPConnection {
    /// Reads everything to the end of the connection.
    func rest() async -> [UInt8] {
        var all: [UInt8] = []
        while !isEnded { all += await bytes() }
        return all
    }
}

/// Compresses a request's body.
func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    Array(buffer: try Deflater.compress(ByteBuffer(bytes: bytes), level: 6))
}
