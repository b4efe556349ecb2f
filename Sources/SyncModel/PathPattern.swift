// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A path of requests in which `{name}` stands for any one segment.
///
/// Segments are compared percent-decoded, so `/%73ync` is `/sync`; one slash at the end makes no difference.
package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    /// What stands between two slashes.
    package enum Segment: Hashable, Sendable {
        /// Exactly this; it may be written percent-encoded.
        case text(String)
        /// Any one segment that is neither empty nor `.` or `..`.
        case any(name: String)
    }

    /// The segments; none for `/`.
    package let segments: [Segment]
    /// What each segment must be; nil for a placeholder.
    private let decoded: [[UInt8]?]

    /// A pattern of these segments.
    package init(segments: [Segment]) {
        self.segments = segments
        decoded = segments.map {
            switch $0 {
            case .text(let text): PercentCoding.decode(text.utf8)
            case .any: nil
            }
        }
    }

    /// A pattern, or nil where the text doesn't begin with a slash, or has an empty segment before the last, a query,
    /// a fragment, or a brace that isn't around a whole segment.
    package init?(_ text: String) {
        guard let parts = Self.split(text.utf8) else { return nil }
        var segments: [Segment] = []
        for part in parts {
            let opens = part.first == UInt8(ascii: "{")
            let closes = part.last == UInt8(ascii: "}")
            let inner = opens && closes ? part.dropFirst().dropLast() : part[...]
            let odd = inner.contains { "{}?#".utf8.contains($0) }
            guard opens == closes, !inner.isEmpty, !odd else { return nil }
            let text = String(decoding: inner, as: UTF8.self)
            segments.append(opens ? .any(name: text) : .text(text))
        }
        self.init(segments: segments)
    }

    /// Whether a request's path, still percent-encoded and without its query, is one of those meant.
    package func matches(_ path: some StringProtocol) -> Bool {
        guard let given = Self.decodedSegments(of: path) else { return false }
        return given.count == segments.count && covers(segments: given)
    }

    /// Whether a request's path, still percent-encoded and without its query, is one of those meant or below one.
    package func covers(_ path: some StringProtocol) -> Bool {
        guard let given = Self.decodedSegments(of: path) else { return false }
        return covers(segments: given)
    }

    /// Whether a path of these decoded segments is one of those meant or below one.
    ///
    /// - Parameters:
    ///   - given: The segments.
    ///   - ignoringCase: Whether ASCII letters are compared without their case, as many web frameworks do.
    /// - Returns: Whether each of the pattern's segments takes the one in its place.
    package func covers(segments given: [[UInt8]], ignoringCase: Bool = false) -> Bool {
        guard given.count >= decoded.count else { return false }
        return zip(decoded, given).allSatisfy { expected, text in
            guard let expected else { return !text.isEmpty && text != [0x2E] && text != [0x2E, 0x2E] }
            if !ignoringCase { return expected == text }
            return expected.elementsEqual(text) { $0.lowercasedASCII == $1.lowercasedASCII }
        }
    }

    /// The pattern as it is written, without a slash at the end.
    package var description: String {
        "/"
            + segments.map {
                switch $0 {
                case .text(let text): text
                case .any(let name): "{\(name)}"
                }
            }.joined(separator: "/")
    }

    private static func decodedSegments(of path: some StringProtocol) -> [[UInt8]]? {
        split(path.utf8)?.map { PercentCoding.decode($0) }
    }

    /// The segments between slashes, without the empty one after a trailing slash; nil where another is empty.
    private static func split(_ path: some Sequence<UInt8>) -> [[UInt8]]? {
        var parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
        guard parts.count > 1, parts.removeFirst().isEmpty else { return nil }
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts.contains { $0.isEmpty } ? nil : parts
    }
}

extension UInt8 {
    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
