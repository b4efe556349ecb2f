// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncModel

/// Damages bytes by a seed.
struct ByteMutator {
    var random: SeededGenerator

    private static let jsonTokens: [[UInt8]] =
        [
            "null", "true", "-1", "-0", "1e400", "1e-400", "9007199254740993", "9223372036854775808", "\"\"", "\"id\":",
            "\"id\":null,", "\"created\":[", "\"deleted\":", "\"changes\":", "\"ack\":", "\"type\":", "\"data\":{}",
            "{", "}",
            "[", "]", "\"", "\\", "\\ud800", "\\u0000", ":", ",", "[]", "{}", "__proto__", "../", "%2e%2e", "\u{feff}",
            "\u{0}", "\u{202e}", "\n", "\r\n", "|", "SyncResetV1|reset", "SyncCompleteV1", "TaskV2", "Ä",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x80], []]

    private static let headTokens: [[UInt8]] =
        [
            "\r\n", "\n", "\r", "\r\n\r\n", ":", " ", "\t", "\u{0}", ",", ";", "%", "%00", "%0d%0a", "%2f", "?", "#",
            "//",
            "..", "chunked", "HTTP/1.0", "HTTP/2", "HTTP/1.1", "-1", "0", "99999999999999999999", "gzip", "identity",
            "\r\n X: folded", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Host: other\r\n", "close",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3, 0xA4], [0x7F], [0x80], []]

    /// A number below a bound.
    mutating func number(_ bound: Int) -> Int { bound > 0 ? Int(random.next() % UInt64(bound)) : 0 }

    /// Whether something of this many in a hundred happens.
    mutating func percent(_ share: Int) -> Bool { number(100) < share }

    /// One of several.
    mutating func one<Element>(of elements: [Element]) -> Element { elements[number(elements.count)] }

    /// Damages JSON, or what should be JSON.
    mutating func damageContent(_ bytes: inout [UInt8], times: Int = 2) {
        for _ in 0...number(times) { damage(&bytes, 0..<bytes.count, with: Self.jsonTokens) }
    }

    /// Damages what lies in a range of a message's head.
    mutating func damageHead(_ bytes: inout [UInt8], _ range: Range<Int>, times: Int = 2) {
        var range = range
        for _ in 0...number(times) {
            let before = bytes.count
            damage(&bytes, range, with: Self.headTokens)
            range = range.lowerBound..<max(range.lowerBound, min(bytes.count, range.upperBound + bytes.count - before))
        }
    }

    private mutating func damage(_ bytes: inout [UInt8], _ range: Range<Int>, with tokens: [[UInt8]]) {
        let start = range.lowerBound + number(range.count + 1)
        let end = min(range.upperBound, start + number(12))
        switch number(8) {
        case 0: bytes.removeSubrange(start..<end)
        case 1: bytes.insert(contentsOf: one(of: tokens), at: start)
        case 2: bytes.replaceSubrange(start..<end, with: one(of: tokens))
        case 3: bytes.insert(contentsOf: bytes[start..<end], at: end)
        case 4: if start < range.upperBound { bytes[start] ^= UInt8(1 << number(8)) }
        case 5: if start < range.upperBound { bytes[start] = UInt8(number(256)) }
        case 6:
            let other = range.lowerBound + number(range.count + 1)
            bytes.insert(contentsOf: bytes[min(start, other)..<max(start, other)].prefix(200), at: start)
        default:
            let other = range.lowerBound + number(range.count + 1)
            if start < range.upperBound, other < range.upperBound { bytes.swapAt(start, other) }
        }
    }
}
