// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// A request that the gateway has sent to its backend, read as strictly as the strictest server would.
struct RelayedRequest: Sendable {
    var method: String
    var target: String
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    /// The gateway sends what two servers could read in two ways, or what is no HTTP.
    struct Ambiguous: Error, CustomStringConvertible {
        let description: String
    }

    /// The values of a field.
    subscript(name: String) -> [String] { fields.filter { $0.name.lowercased() == name }.map(\.value) }

    /// The access token, in whatever field.
    var token: String? {
        if let value = self["authorization"].first, value.hasPrefix("Bearer ") { return String(value.dropFirst(7)) }
        return nil
    }

    /// Takes a request from the beginning of a buffer.
    ///
    /// - Returns: Nil where more bytes are needed.
    /// - Throws: ``Ambiguous``.
    static func take(_ buffer: inout ByteBuffer) throws -> RelayedRequest? {
        let view = buffer.readableBytesView
        guard let end = view.firstRange(of: Array("\r\n\r\n".utf8)) else {
            if view.count > 1 << 20 { throw Ambiguous(description: "a head without end") }
            return nil
        }
        var request = try reading(head: view[..<end.lowerBound])
        var rest = view[end.upperBound...]
        let lengths = request["content-length"]
        let codings = request["transfer-encoding"]
        guard request["host"].count == 1 else { throw Ambiguous(description: "not one host: \(request)") }
        guard lengths.count + codings.count <= 1 else { throw Ambiguous(description: "two framings: \(request)") }
        if let text = lengths.first {
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text) else {
                throw Ambiguous(description: "length \(text)")
            }
            guard rest.count >= length else { return nil }
            request.body = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        } else if let coding = codings.first {
            guard coding == "chunked" else { throw Ambiguous(description: "transfer coding \(coding)") }
            guard try request.takeChunks(&rest) else { return nil }
        }
        buffer.moveReaderIndex(forwardBy: view.count - rest.count)
        return request
    }

    private mutating func takeChunks(_ rest: inout ByteBufferView) throws -> Bool {
        while true {
            guard let end = rest.firstIndex(of: 0x0A) else { return false }
            let line = rest[..<end]
            guard line.last == 0x0D, let size = Int(String(decoding: line.dropLast(), as: UTF8.self), radix: 16),
                size >= 0
            else { throw Ambiguous(description: "chunk \(String(decoding: line, as: UTF8.self))") }
            let data = rest[(end + 1)...]
            guard data.count >= size + 2 else { return false }
            guard Array(data.dropFirst(size).prefix(2)) == [0x0D, 0x0A] else {
                throw Ambiguous(description: "a chunk without end, or trailers")
            }
            body += data.prefix(size)
            rest = data.dropFirst(size + 2)
            if size == 0 { return true }
        }
    }

    private static func reading(head: ByteBufferView) throws -> RelayedRequest {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        let parts = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "HTTP/1.1", isToken(parts[0]), !parts[1].isEmpty else {
            throw Ambiguous(description: "request line \(lines[0])")
        }
        var request = RelayedRequest(method: String(parts[0]), target: String(parts[1]))
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), isToken(line[..<colon]),
                line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { throw Ambiguous(description: "field \(line.debugDescription)") }
            request.fields.append(
                (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })))
        }
        return request
    }

    private static func isToken(_ text: Substring) -> Bool {
        let others = Set("!#$%&'*+-.^_`|~".utf8)
        return !text.isEmpty
            && text.utf8.allSatisfy { byte in
                others.contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
            }
    }
}
