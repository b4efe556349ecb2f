// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore

/// A request that has been checked and is ready for libcurl.
struct PreparedRequest: Sendable {
    /// The source of the body.
    enum Body: Sendable {
        case none
        case bytes(ByteBuffer)
        case channel(UploadChannel, length: Int64?)
    }

    /// The length up to which a body counts as sent together with its head.
    private static let shortBody = 16 * 1024

    /// True if the server may answer before it has the whole body, and the answer can be read without libcurl.
    var mayBeRefusedEarly: Bool {
        switch body {
        case .none: return false
        case .bytes(let bytes): guard bytes.readableBytes > Self.shortBody else { return false }
        case .channel: break
        }
        return url.prefix(5).lowercased() == "http:"
    }

    static let maximumURLLength = 16 * 1024
    static let maximumFieldBytes = 256 * 1024

    /// The fields that frame the message or manage the connection; setting them would allow request smuggling.
    static let framing: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection",
        "te", "trailer", "transfer-encoding", "upgrade",
    ]

    let method: String
    let url: String
    /// Header lines in libcurl's form, each ended by a zero byte.
    let lines: [[UInt8]]
    var body: Body
    let timeouts: CurlTimeouts
    let isIdempotent: Bool
    /// The protocols to switch to, with the bytes of the request's head; nil for an ordinary exchange.
    let upgrade: Upgrade?

    /// Checks `request`; the caller sets the channel of a streamed body.
    init(_ request: CurlRequest) throws(CurlError) {
        method = request.method.rawValue
        guard method != "CONNECT" else { throw .invalidRequest("CONNECT is not a method for a backend") }
        url = request.url
        try Self.check(url: url)
        let fields = try Self.checked(request.fields)
        lines = Self.lines(of: fields)
        upgrade = try request.upgrade.map { (protocols) throws(CurlError) in
            try Upgrade(protocols, of: request, fields: fields)
        }
        timeouts = request.timeouts
        isIdempotent = request.isIdempotent
        switch request.body {
        case .none, .stream:
            body = .none
        case .bytes(let bytes):
            guard method != "HEAD" else { throw .invalidRequest("HEAD has no body") }
            body = .bytes(bytes)
        }
        if case .stream(let length, _) = request.body {
            guard method != "HEAD" else { throw .invalidRequest("HEAD has no body") }
            guard length ?? 0 >= 0 else { throw .invalidRequest("the body's length is negative") }
        }
    }

    private static func check(url: String) throws(CurlError) {
        guard url.utf8.count <= maximumURLLength else { throw .invalidRequest("the URL is too long") }
        for byte in url.utf8 {
            // Some parsers treat a backslash as a slash, others do not.
            guard (0x21...0x7E).contains(byte), byte != UInt8(ascii: "\\") else {
                throw .invalidRequest("the URL has a character that must be percent-encoded")
            }
        }
        guard let scheme = ["http://", "https://"].first(where: { url.lowercased().hasPrefix($0) }) else {
            throw .invalidRequest("the URL is neither http nor https")
        }
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        guard !authority.isEmpty else { throw .invalidRequest("the URL has no host") }
        guard !authority.contains("@") else { throw .invalidRequest("the URL has a user name") }
        guard !url.contains("#") else { throw .invalidRequest("the URL has a fragment") }
    }

    /// A field that may be sent.
    struct Field {
        let name: HTTPField.Name
        let value: [UInt8]
    }

    private static func checked(_ fields: HTTPFields) throws(CurlError) -> [Field] {
        var checked: [Field] = []
        var total = 0
        var cookies: [UInt8] = []
        for field in fields {
            guard !framing.contains(field.name.canonicalName) else {
                throw .invalidRequest("the field \(field.name.rawName) is set by the connection itself")
            }
            let value = field.withUnsafeBytesOfValue { Array($0) }
            guard !value.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
                throw .invalidRequest("the field \(field.name.rawName) has a line break or a zero byte")
            }
            total += field.name.rawName.utf8.count + value.count
            if field.name == .cookie {
                // HTTPTypes keeps them apart; HTTP/1.1 allows one field only (RFC 6265, 5.4).
                cookies += (cookies.isEmpty ? [] : Array("; ".utf8)) + value
            } else {
                checked.append(Field(name: field.name, value: value))
            }
        }
        if !cookies.isEmpty { checked.append(Field(name: .cookie, value: cookies)) }
        guard total <= maximumFieldBytes else { throw .invalidRequest("the header fields are too long") }
        return checked
    }

    private static func lines(of fields: [Field]) -> [[UInt8]] {
        // libcurl adds these by itself; a line without a value removes them.
        var lines = [Array("Expect:\0".utf8)]
        lines.reserveCapacity(fields.count + 3)
        for (name, line) in [(HTTPField.Name.accept, "Accept:\0"), (.contentType, "Content-Type:\0")]
        where !fields.contains(where: { $0.name == name }) { lines.append(Array(line.utf8)) }
        for field in fields {
            var line: [UInt8] = []
            line.reserveCapacity(field.name.rawName.utf8.count + field.value.count + 3)
            line += field.name.rawName.utf8
            // libcurl writes a field with an empty value as "Name;".
            line += field.value.isEmpty ? ";".utf8 : ": ".utf8
            line += field.value
            line.append(0)
            lines.append(line)
        }
        return lines
    }
}
