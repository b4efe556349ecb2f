// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The answer of a server that refused a request by its head and closed the connection while the body was being sent.
///
/// libcurl looks for one only before it sends (RFC 9112, 9.5).
struct EarlyAnswer {
    /// The most bytes of its body.
    static let maximumBody = 64 * 1024

    /// The lines of its heads, each with its line break.
    private(set) var lines: [[UInt8]] = []
    let body: [UInt8]

    /// Reads an answer; nil if there is none, or not all of one.
    ///
    /// `isEnded` says that the server has ended its side in good order, and not by a reset.
    init?(_ bytes: [UInt8], isEnded: Bool, answering method: String, headLimit: Int) {
        var rest = bytes[...]
        var parser = ResponseHeadParser(limit: headLimit)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(rest[...end])
            lines.append(line)
            rest = rest[(end + 1)...]
            switch parser.add(line) {
            case .more: continue
            case .failure: return nil
            case .head(let head):
                let framing = head.framing(answering: method)
                guard let body = framing.body(in: rest, isEnded: isEnded), body.count <= Self.maximumBody else {
                    return nil
                }
                self.body = body
                return
            }
        }
        return nil
    }
}

extension Exchange {
    /// The way in which the end of a body is found (RFC 9112, 6.3).
    enum Framing {
        case none
        case length(Int)
        case chunks
        case close

        /// Returns the body at the beginning of some bytes; nil if it is not whole.
        func body(in bytes: ArraySlice<UInt8>, isEnded: Bool) -> [UInt8]? {
            switch self {
            case .none: return []
            case .length(let length): return bytes.count >= length ? Array(bytes.prefix(length)) : nil
            case .close: return isEnded ? Array(bytes) : nil
            case .chunks:
                var (body, rest) = ([UInt8](), bytes)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let digits = rest[..<end].prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "\r") }
                    guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0 else {
                        return nil
                    }
                    rest = rest[(end + 1)...]
                    if size == 0 { return body }
                    guard rest.count >= size + 2 else { return nil }
                    body += rest.prefix(size)
                    rest = rest.dropFirst(size + 2)
                }
                return nil
            }
        }
    }
}
