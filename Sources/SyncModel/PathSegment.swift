// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Finds path segments that two servers may read differently.
package enum PathSegment {
    /// The most levels of nested escapes that are decoded.
    private static let maximumDepth = 16

    /// Returns true if servers may disagree about the meaning of a segment, which is percent-encoded as it is in the
    /// path.
    ///
    /// These are dot segments in any spelling, malformed escapes, and escaped slashes, backslashes and control bytes.
    package static func isAmbiguous(_ segment: some Collection<UInt8>) -> Bool {
        isOdd(PercentCoding.decode(segment)) || !hasOnlyWholeEscapes(segment)
    }

    /// Returns true if the segment is ambiguous, or may become so for a server that decodes it again, also repeatedly.
    ///
    /// Meant for text that clients put into a path that the gateway writes: no genuine id has escapes in it.
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
        // Some servers drop a semicolon and all that follows before they look at dots.
        var name = decoded.prefix { $0 != UInt8(ascii: ";") }.drop { $0 == UInt8(ascii: " ") }
        // Some drop spaces first.
        while name.last == UInt8(ascii: " ") { name.removeLast() }
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
