// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A path that the gateway serves, with `{placeholders}` that match one segment each.
package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    private enum Segment: Hashable, Sendable {
        case literal([UInt8])
        case any
    }

    /// The path as it was written.
    package let description: String
    private let segments: [Segment]

    /// A pattern, or nil where the text doesn't begin with a slash, or has an empty segment before the last, a query,
    /// a fragment, or a brace that isn't around a whole segment.
    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        guard let parts = Self.split(text.utf8) else { return nil }
        var segments: [Segment] = []
        for part in parts {
            let opens = part.first == UInt8(ascii: "{")
            let closes = part.last == UInt8(ascii: "}")
            let inner = opens && closes ? part.dropFirst().dropLast() : part[...]
            let odd = inner.contains { "{}?#".utf8.contains($0) }
            guard opens == closes, !inner.isEmpty, !odd else { return nil }
            segments.append(opens ? .any : .literal(PercentCoding.decode(part)))
        }
        description = text
        self.segments = segments
    }

    /// A pattern of a literal that is known to be well formed.
    init(unchecked text: String) {
        description = text
        segments = (Self.split(text.utf8) ?? []).map { .literal($0) }
    }

    /// Whether a request's path, still percent-encoded and without its query, is this one.
    ///
    /// Segments are compared decoded, one trailing slash more or less is no difference, and a placeholder takes any
    /// segment that is neither empty nor `.` or `..`.
    package func matches(_ path: some Sequence<UInt8>) -> Bool {
        guard let parts = Self.split(path), parts.count == segments.count else { return false }
        return zip(segments, parts).allSatisfy { segment, part in
            let decoded = PercentCoding.decode(part)
            switch segment {
            case .literal(let literal): return literal == decoded
            case .any: return decoded != Array(".".utf8) && decoded != Array("..".utf8)
            }
        }
    }

    /// The segments between slashes, without the empty one after a trailing slash; nil where another is empty.
    private static func split(_ path: some Sequence<UInt8>) -> [[UInt8]]? {
        var parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
        guard parts.count > 1, parts.removeFirst().isEmpty else { return nil }
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts.contains { $0.isEmpty } ? nil : parts
    }
}
