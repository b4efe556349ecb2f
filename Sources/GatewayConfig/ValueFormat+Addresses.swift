// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

extension ValueFormat where Value == ListenAddress {
    /// The most bytes of the path of a Unix socket: what the system's address holds, without its end (unix(7)).
    private static let longestPath = 107

    /// An address as `host:port`, or a Unix socket as `unix:/path`.
    static var address: Self {
        ValueFormat(
            name: "host:port or unix:/path",
            parse: { (value, _) throws(Mistake) -> ListenAddress in
                let text = try value.unquoted()
                if text.hasPrefix("unix:") {
                    let path = text.dropFirst(5)
                    guard path.first == "/", path.last != "/", path.utf8.count <= longestPath, !path.contains("\0")
                    else {
                        throw Mistake(
                            "expected the path of a socket such as 'unix:/run/rind/rind.sock', found '\(value.shown)'",
                            at: value.span, hint: "it begins with '/' and has at most \(longestPath) bytes")
                    }
                    return ListenAddress(path: String(path))
                }
                let parts = HostAndPort.split(text)
                guard let (host, port) = parts, let port, (0...65535).contains(port) else {
                    throw Mistake(
                        "expected an address such as '127.0.0.1:8790', found '\(value.shown)'", at: value.span,
                        hint: HostAndPort.loneHint(text)
                            ?? parts.map { $0.port == nil ? "add a port" : "ports end at 65535" }
                            ?? "an IPv6 address stands in brackets: [::1]:8790")
                }
                return ListenAddress(host: host, port: port)
            },
            render: { $0.description })
    }
}

extension ValueFormat where Value == AddressRange {
    /// An IP address, or a range of them as `address/bits`.
    static var addressRange: Self {
        ValueFormat(
            name: "address range",
            parse: { (value, _) throws(Mistake) -> AddressRange in
                let text = try value.unquoted()
                guard let range = AddressRange(text) else {
                    throw Mistake(
                        "expected addresses such as '10.0.0.0/8' or '::1', found '\(value.shown)'", at: value.span,
                        hint: "an address whose last bits do not count has zeros there")
                }
                return range
            },
            render: { $0.description })
    }
}

extension ValueFormat where Value == BaseURL {
    /// The URL of a backend.
    static var baseURL: Self {
        ValueFormat(
            name: "URL", limits: "http or https, without user, query and fragment",
            parse: { (value, _) throws(Mistake) -> BaseURL in
                let text = try value.unquoted()
                let isTLS = text.lowercased().hasPrefix("https://")
                guard isTLS || text.lowercased().hasPrefix("http://") else {
                    throw Mistake(
                        "expected a URL that begins with 'http://' or 'https://', found '\(value.shown)'",
                        at: value.span)
                }
                let rest = text.dropFirst(isTLS ? 8 : 7)
                guard !rest.prefix(while: { $0 != "/" }).contains("@") else {
                    throw Mistake(
                        "the URL holds credentials", at: value.span,
                        hint: "remove them: calls carry the credential of the client that they are made for")
                }
                guard !rest.contains("?"), !rest.contains("#") else {
                    throw Mistake("the URL has a query or a fragment", at: value.span, hint: "remove it")
                }
                let authority = rest.prefix { $0 != "/" }
                guard let (host, port) = HostAndPort.split(String(authority)), (1...65535).contains(port ?? 1) else {
                    throw Mistake("expected a host after '://', found '\(value.shown)'", at: value.span)
                }
                var path = String(rest[authority.endIndex...])
                while path.last == "/" { path.removeLast() }
                let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
                guard path.unicodeScalars.allSatisfy(\.isPathCharacter),
                    !segments.contains(where: { ["", ".", ".."].contains($0) })
                else { throw Mistake("'\(value.shown)' has a path that is no clean path", at: value.span) }
                return BaseURL(isTLS: isTLS, host: host, port: port, path: path)
            },
            render: { $0.description })
    }
}

extension ValueFormat where Value == PathPattern {
    /// A path with `{placeholders}` for whole segments.
    static var pathPattern: Self {
        ValueFormat(
            name: "path", limits: "{name} matches one segment",
            parse: { (value, _) throws(Mistake) -> PathPattern in
                guard let first = value.characters.first, first.scalar == "/" else {
                    throw Mistake("expected a path that begins with '/', found '\(value.shown)'", at: value.span)
                }
                var parts = value.split(on: "/").dropFirst()
                if parts.last?.isEmpty == true { parts.removeLast() }
                guard parts.count <= 64 else {
                    throw Mistake("the path has \(parts.count) segments, expected at most 64", at: value.span)
                }
                var segments: [PathPattern.Segment] = []
                for part in parts { segments.append(try segment(part, of: value)) }
                return PathPattern(segments: segments)
            },
            render: { $0.description })
    }

    private static func segment(_ part: SourceText, of value: SourceText) throws(Mistake) -> PathPattern.Segment {
        guard let first = part.characters.first else {
            throw Mistake("the path '\(value.shown)' has an empty segment", at: value.span)
        }
        if first.isSyntax("{") {
            let (name, end) = try CallParser.placeholder(in: part, at: part.characters.startIndex)
            guard end == part.characters.endIndex else {
                throw Mistake(
                    "'\(part.shown)': a placeholder must be a whole segment", at: part.span,
                    hint: "put slashes around it")
            }
            return .any(name: name.value)
        }
        guard part.characters.allSatisfy(\.scalar.isPathCharacter), ![".", ".."].contains(part.string) else {
            throw Mistake(
                "'\(part.shown)' is no segment of a path", at: part.span, hint: "write unusual bytes percent-encoded")
        }
        return .text(part.string)
    }
}

extension ValueFormat where Value == String {
    /// `scheme://host[:port]` (RFC 6454, 6.2), or `*`; the host `.` is what Electron's apps have (`app://.`).
    static var origin: Self {
        text("origin").checked { text, shown in
            if text == "*" { return nil }
            let scheme = text.prefix { $0 != ":" }
            let rest = text.dropFirst(scheme.count + 3)
            // RFC 3986, 3.1.
            let isScheme =
                scheme.first?.isLetter == true
                && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
            let isHost = HostAndPort.split(String(rest)).map { (1...65_535).contains($0.port ?? 1) } ?? (rest == ".")
            guard isScheme, isHost, text.dropFirst(scheme.count).hasPrefix("://"), text == text.lowercased() else {
                return (
                    "expected an origin such as 'https://app.example.com', found '\(shown)'",
                    "an origin is scheme, host and port in lower case, without a path"
                )
            }
            return nil
        }
    }
}

/// The part of a URL between `://` and the path.
enum HostAndPort {
    /// Splits `host[:port]`; returns nil for any other text, and IPv6 without its brackets.
    static func split(_ text: String) -> (host: String, port: Int?)? {
        var host = text[...]
        var port: Int?
        if host.first == "[" {
            guard let close = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: close)...]
            host = host[host.index(after: host.startIndex)..<close]
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
            guard rest.isEmpty || rest.first == ":" else { return nil }
            if !rest.isEmpty {
                guard let number = number(rest.dropFirst()) else { return nil }
                port = number
            }
            return (host.lowercased(), port)
        }
        if let colon = host.firstIndex(of: ":") {
            guard let number = number(host[host.index(after: colon)...]) else { return nil }
            port = number
            host = host[..<colon]
        }
        let isName = host.unicodeScalars.allSatisfy { $0.isWordPart || $0 == "-" || $0 == "." }
        guard (1...253).contains(host.utf8.count), isName, host.first != ".", !host.contains("..") else { return nil }
        return (host.lowercased(), port)
    }

    /// Returns a correction for a port alone; nil if the text is something else.
    static func loneHint(_ text: String) -> String? {
        guard let port = number(text.hasPrefix(":") ? text.dropFirst() : text[...]), port <= 65535 else { return nil }
        return "this is a port alone: write '127.0.0.1:\(port)' for this machine, or '0.0.0.0:\(port)' for everybody"
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...5).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }
}

extension Unicode.Scalar {
    /// True if RFC 3986 (3.3) allows the character in a path.
    var isPathCharacter: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: "-._~!$&'()*+,;=:@%/".unicodeScalars.contains(self)
        }
    }
}
