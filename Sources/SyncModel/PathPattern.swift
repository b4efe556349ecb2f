// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A request path in which `{name}` stands for any one segment.
///
/// Segments are compared percent-decoded, so `/%73ync` is `/sync`; a trailing slash makes no difference.
package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    /// The part of a path between two slashes.
    package enum Segment: Hashable, Sendable {
        /// Exactly this text; the request may write it percent-encoded.
        case text(String)
        /// Any one segment that is neither empty nor `.` or `..`.
        case any(name: String)
    }

    /// The segments; none for `/`.
    package let segments: [Segment]
    /// The decoded text that each segment must have; nil for a placeholder.
    private let decoded: [[UInt8]?]

    /// Creates a pattern of these segments.
    package init(segments: [Segment]) {
        self.segments = segments
        decoded = segments.map {
            switch $0 {
            case .text(let text): PercentCoding.decode(text.utf8)
            case .any: nil
            }
        }
    }

    /// Creates a pattern; nil if the text does not begin with a slash, or has an empty segment before the last, a
    /// query, a fragment, or a brace that is not around a whole segment.
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

    /// Returns true if the pattern matches a request's path, which is still percent-encoded and has no query.
    package func matches(_ path: some StringProtocol) -> Bool {
        guard let given = Self.decodedSegments(of: path) else { return false }
        return given.count == segments.count && covers(segments: given)
    }

    /// Returns the decoded segments of a path that the pattern has names for; nil if it does not match.
    package func values(in path: some StringProtocol) -> [String: [UInt8]]? {
        guard let given = Self.decodedSegments(of: path), given.count == segments.count, covers(segments: given) else {
            return nil
        }
        return zip(segments, given).reduce(into: [:]) { values, pair in
            if case .any(let name) = pair.0 { values[name] = pair.1 }
        }
    }

    /// Returns true if some path matches both patterns.
    package func overlaps(_ other: PathPattern) -> Bool {
        segments.count == other.segments.count
            && zip(decoded, other.decoded).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
    }

    /// The names of its placeholders.
    package var names: [String] { segments.compactMap { if case .any(let name) = $0 { name } else { nil } } }

    /// Returns true if the pattern matches a request's path, or a parent of it; the path is still percent-encoded and
    /// has no query.
    package func covers(_ path: some StringProtocol) -> Bool {
        guard let given = Self.decodedSegments(of: path) else { return false }
        return covers(segments: given)
    }

    /// Returns true if the pattern matches a path of these decoded segments, or a parent of it.
    ///
    /// - Parameters:
    ///   - given: The segments.
    ///   - ignoringCase: True to ignore the case of ASCII letters, as many web frameworks do.
    /// - Returns: True if each of the pattern's segments matches the segment at its position.
    package func covers(segments given: [[UInt8]], ignoringCase: Bool = false) -> Bool {
        guard given.count >= decoded.count else { return false }
        return zip(decoded, given).allSatisfy { expected, text in
            guard let expected else { return !text.isEmpty && text != [0x2E] && text != [0x2E, 0x2E] }
            if !ignoringCase { return expected == text }
            return expected.elementsEqual(text) { $0.lowercasedASCII == $1.lowercasedASCII }
        }
    }

    /// The pattern as it is written, without a trailing slash.
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

    /// Splits a path at its slashes, ignoring one trailing slash; nil if a segment is empty or the first slash is
    /// missing.
    private static func split(_ path: some Sequence<UInt8>) -> [[UInt8]]? {
        var (parts, part, hasSlash): ([[UInt8]], [UInt8], Bool) = ([], [], false)
        for byte in path {
            if byte != UInt8(ascii: "/") {
                guard hasSlash else { return nil }
                part.append(byte)
            } else {
                if hasSlash {
                    guard !part.isEmpty else { return nil }
                    parts.append(part)
                    part = []
                }
                hasSlash = true
            }
        }
        if !part.isEmpty { parts.append(part) }
        return hasSlash ? parts : nil
    }
}

extension UInt8 {
    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
