// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a client sends on a connection, and what it expects for that.
struct MutatedExchange: Sendable {
    /// What happens after the last byte.
    enum Ending: Sendable {
        /// The answers are read, and the connection serves the next exchange.
        case keep
        /// The client closes its side, and reads what comes until the end.
        case halfClose
        /// The client goes without reading.
        case hangUp
    }

    /// What was done to the request, for reports.
    var kind: String
    /// The bytes, in the pieces that are written.
    var pieces: [[UInt8]]
    /// The methods of the requests in it; where framing was damaged, how many there are is unknown.
    var methods: [String]
    var ending = Ending.keep

    /// The bytes as a Swift string literal would show them, cut where they are many.
    var shown: String {
        let bytes = Array(pieces.joined())
        let text = bytes.prefix(4_000).map { byte in
            switch byte {
            case 0x0D: "\\r"
            case 0x0A: "\\n"
            case 0x5C: "\\\\"
            case 0x20...0x7E: String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return text.joined() + (bytes.count > 4_000 ? "… \(bytes.count) bytes" : "")
    }
}

/// A request before it is written.
struct RequestDraft {
    /// How the body's end is told.
    enum Framing {
        case length
        case chunked
        /// As the fields say, which are there already.
        case asIs
    }

    var method: String
    var target: String
    var fields: [(name: String, value: String)]
    var body: [UInt8] = []
    var framing = Framing.length

    /// The head alone.
    var head: [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        switch framing {
        case .length where !body.isEmpty || method == "POST": text += "Content-Length: \(body.count)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        default: break
        }
        return Array((text + "\r\n").utf8)
    }

    /// The body as it is framed.
    var framedBody: [UInt8] { framing == .chunked ? Self.chunks(body, of: 400) : body }

    /// All of it.
    var bytes: [UInt8] { head + framedBody }

    /// A body in chunks.
    static func chunks(_ body: [UInt8], of size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: size) {
            let piece = body[start..<min(body.count, start + size)]
            bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [0x0D, 0x0A]
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }
}
