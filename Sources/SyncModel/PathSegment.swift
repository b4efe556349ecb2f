// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Tells which segments of a path two servers may read in different ways.
package enum PathSegment {
    /// How many escapes may stand in one another.
    private static let maximumDepth = 16

    /// Whether a segment, percent-encoded as it stands in a path, means one thing to some servers and another to
    /// others.
    ///
    /// That is: dot segments however written, malformed escapes, and escaped slashes, backslashes and control bytes.
    package static func isAmbiguous(_ segment: some Collection<UInt8>) -> Bool {
        isOdd(PercentCoding.decode(segment)) || !hasOnlyWholeEscapes(segment)
    }

    /// Whether it may do so to a server that gets it from one that has decoded it already, maybe from several.
    ///
    /// For what clients put into a path that they do not write themselves: no genuine id has escapes in it.
    package static func isAmbiguousWhenDecodedAgain(_ segment: some Collection<UInt8>) -> Bool {
        guard !isAmbiguous(segment) else { return true }
        var bytes = PercentCoding.decode(segment)
        for _ in 0..<maximumDepth {
            let decoded = PercentCoding.decode(bytes)
            guard decoded.count < bytes.count else { return false }
            guard !isOdd(decoded), String(validating: decoded, as: UTF8.self) != nil else { return true }
            bytes = decoded
        }
        return true
    }

    private static func isOdd(_ decoded: [UInt8]) -> Bool {
        // Some servers drop what follows a semicolon before they look at dots.
        let name = decoded.prefix { $0 != UInt8(ascii: ";") }
        if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return true }
        return decoded.contains {
            $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
        }
    }

    private static func hasOnlyWholeEscapes(_ segment: some Collection<UInt8>) -> Bool {
        var rest = segment[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else { continue }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit) else { return false }
            rest = rest.dropFirst(2)
        }
        return true
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
