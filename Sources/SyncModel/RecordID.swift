// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The rule for record ids that are safe in both WatermelonDB adapters, file systems and URLs.
package enum RecordID {
    /// The most bytes that an id may have; a longer one is quarantined.
    package static let maximumLength = 255

    /// Returns true if the text may be the id of a pushed record: not empty, and at most 255 bytes.
    ///
    /// A client may push ids that no pull would give out (see ``isSafe(_:)-(String)``); a backend may hold them.
    package static func fits(_ text: String) -> Bool { (1...maximumLength).contains(text.utf8.count) }

    /// Returns true if `bytes` are an id that may go out to a client: `[A-Za-z0-9_.-]`, not empty, neither `.` nor
    /// `..`, at most 255 bytes.
    package static func isSafe(_ bytes: some Collection<UInt8>) -> Bool {
        guard (1...maximumLength).contains(bytes.count), bytes.allSatisfy(isSafe) else { return false }
        return bytes.count > 2 || !bytes.allSatisfy { $0 == UInt8(ascii: ".") }
    }

    /// Returns true if bytes in memory are an id that may go out to a client.
    ///
    /// Not generic, because generic code is not specialised across modules and this runs once for every streamed line.
    package static func isSafe(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        guard (1...maximumLength).contains(count) else { return false }
        if count >= 8 {
            var offset = 0
            while offset < count {
                // The last word overlaps bytes that were checked already.
                let start = min(offset, count &- 8)
                guard isSafe(word: unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)) else {
                    return false
                }
                offset &+= 8
            }
            return true
        }
        for index in 0..<count {
            guard unsafe isSafe(bytes[index]) else { return false }
        }
        if count > 2 { return true }
        return unsafe bytes[0] != UInt8(ascii: ".") || bytes[count - 1] != UInt8(ascii: ".")
    }

    /// Returns true if each of eight bytes is allowed in an id; they are compared side by side.
    @inline(__always)
    private static func isSafe(word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones &* 0x80
        // A byte of the result has its high bit if that of the word lies in the range; all are below 128.
        func marks(of word: UInt64, from first: UInt8, to last: UInt8) -> UInt64 {
            ((word | high) &- ones &* UInt64(first)) & ((ones &* UInt64(last) | high) &- word)
        }
        let ascii = word & ~high
        let letters = marks(of: ascii | ones &* 0x20, from: UInt8(ascii: "a"), to: UInt8(ascii: "z"))
        // Between the hyphen and 9 only the slash is no character of ids.
        let digits = marks(of: ascii, from: UInt8(ascii: "-"), to: UInt8(ascii: "9"))
        let slashes = marks(of: ascii, from: UInt8(ascii: "/"), to: UInt8(ascii: "/"))
        let underscores = marks(of: ascii, from: UInt8(ascii: "_"), to: UInt8(ascii: "_"))
        return (letters | digits & ~slashes | underscores) & ~word & high == high
    }

    /// Returns true if the text is an id that may go out to a client.
    package static func isSafe(_ text: String) -> Bool { isSafe(text.utf8) }

    /// Returns true if the byte is allowed in an id.
    package static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Appends one part of a composite id: safe bytes other than `.` and `_` as they are, all others as `_hh`.
    ///
    /// Parts are joined with `.`, so a joined id can be split again and different lists of parts never give the same
    /// id.
    package static func appendPart(_ part: some Collection<UInt8>, to id: inout [UInt8]) {
        for byte in part {
            if isSafe(byte), byte != UInt8(ascii: "."), byte != UInt8(ascii: "_") {
                id.append(byte)
            } else {
                id.append(UInt8(ascii: "_"))
                id.append(hexDigit(byte >> 4))
                id.append(hexDigit(byte & 15))
            }
        }
    }

    /// Appends one part of a composite id from bytes in memory; not generic, for the same reason as `isSafe`.
    package static func appendPart(_ part: UnsafeRawBufferPointer, to id: inout [UInt8]) {
        for index in 0..<part.count {
            let byte = unsafe part[index]
            if isSafe(byte), byte != UInt8(ascii: "."), byte != UInt8(ascii: "_") {
                id.append(byte)
            } else {
                id.append(UInt8(ascii: "_"))
                id.append(hexDigit(byte >> 4))
                id.append(hexDigit(byte & 15))
            }
        }
    }

    /// Joins the parts of a composite key into one id.
    package static func joining(_ parts: [String]) -> String {
        var id: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index > 0 { id.append(UInt8(ascii: ".")) }
            appendPart(part.utf8, to: &id)
        }
        return String(decoding: id, as: UTF8.self)
    }

    /// Splits a composite id into its parts; nil if it was not made by ``joining(_:)`` from `count` parts.
    package static func parts(of id: String, count: Int) -> [String]? {
        var parts: [[UInt8]] = [[]]
        var rest = Array(id.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "."): parts.append([])
            case UInt8(ascii: "_"):
                guard let high = rest.popFirst().flatMap(value(ofHexDigit:)),
                    let low = rest.popFirst().flatMap(value(ofHexDigit:))
                else { return nil }
                parts[parts.count - 1].append(high << 4 | low)
            default: parts[parts.count - 1].append(byte)
            }
        }
        guard parts.count == count else { return nil }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(ofHexDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
