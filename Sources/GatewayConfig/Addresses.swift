// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A host and a port to listen on.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address; IPv6 without brackets.
    package var host: String
    /// 0 … 65535; 0 lets the system choose.
    package var port: Int

    /// An address.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `host:port`, IPv6 in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The URL below which everything of the backend lies: neither credentials nor query nor fragment.
package struct BaseURL: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is https.
    package var isTLS: Bool
    /// A name or an address in lower case; IPv6 without brackets.
    package var host: String
    /// The port where one is written.
    package var port: Int?
    /// Empty, or a path that begins with a slash and ends without one.
    package var path: String

    /// A URL of these parts.
    package init(isTLS: Bool, host: String, port: Int?, path: String) {
        self.isTLS = isTLS
        self.host = host
        self.port = port
        self.path = path
    }

    /// The URL without a final slash, so that a target can follow.
    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isTLS ? "https" : "http")://\(name)\(port.map { ":\($0)" } ?? "")\(path)"
    }
}

/// A path of requests in which `{name}` stands for any one segment.
package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    /// What stands between two slashes.
    package enum Segment: Hashable, Sendable {
        /// Exactly this, as it stands in the request line.
        case text(String)
        /// Any one segment that is not empty.
        case any(name: String)
    }

    /// The segments; none for `/`.
    package var segments: [Segment]

    /// A pattern of these segments.
    package init(segments: [Segment]) { self.segments = segments }

    /// Whether a request's path, without its query, is one of those meant; one slash at the end makes no difference.
    package func matches(_ path: some StringProtocol) -> Bool {
        let given = Self.split(path)
        return given.count == segments.count && isPrefix(of: given)
    }

    /// Whether a request's path is one of those meant or lies below one.
    package func covers(_ path: some StringProtocol) -> Bool {
        let given = Self.split(path)
        return given.count >= segments.count && isPrefix(of: given)
    }

    /// The pattern as the file writes it.
    package var description: String {
        "/"
            + segments.map {
                switch $0 {
                case .text(let text): text
                case .any(let name): "{\(name)}"
                }
            }.joined(separator: "/")
    }

    private func isPrefix(of given: [Substring]) -> Bool {
        zip(segments, given).allSatisfy { segment, text in
            switch segment {
            case .text(let expected): expected == text
            case .any: !text.isEmpty
            }
        }
    }

    private static func split(_ path: some StringProtocol) -> [Substring] {
        var parts = Substring(path).split(separator: "/", omittingEmptySubsequences: false)
        if parts.first?.isEmpty == true { parts.removeFirst() }
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts
    }
}
