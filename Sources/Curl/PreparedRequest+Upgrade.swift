// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

extension PreparedRequest {
    /// The wish for another protocol on the connection of a request.
    struct Upgrade: Sendable {
        /// The names of the protocols in small letters, each as it was asked for: `websocket`.
        let protocols: [String]
        /// The request's head, as it is sent.
        let head: [UInt8]

        /// Checks the wish; libcurl does not write the head of such a request.
        init(_ protocols: String, of request: CurlRequest, fields: [Field]) throws(CurlError) {
            let names = protocols.split(separator: ",").map { $0.trimmed.lowercased() }
            guard !names.isEmpty, names.allSatisfy(Self.isProtocol) else {
                throw .invalidRequest("the protocols to switch to are malformed")
            }
            guard case .stream(nil, _) = request.body, request.method != .head else {
                throw .invalidRequest("a request for another protocol has a streamed body without a length")
            }
            self.protocols = names
            let (authority, target) = Self.parts(of: request.url)
            var text = "\(request.method.rawValue) \(target) HTTP/1.1\r\nHost: \(authority)\r\n"
            text += "Connection: Upgrade\r\nUpgrade: \(protocols)\r\n"
            if [.post, .put, .patch].contains(request.method) { text += "Content-Length: 0\r\n" }
            var head = Array(text.utf8)
            for field in fields { head += Array("\(field.name.rawName): ".utf8) + field.value + Array("\r\n".utf8) }
            self.head = head + Array("\r\n".utf8)
        }

        /// Returns the host as `Host` names it, and the target; the URL was checked before.
        private static func parts(of url: String) -> (authority: Substring, target: Substring) {
            let scheme = url.prefix { $0 != ":" }.lowercased()
            let rest = url.dropFirst(scheme.count + "://".count)
            var authority = rest.prefix { $0 != "/" && $0 != "?" }
            let target = rest[authority.endIndex...]
            let usualPort = scheme == "https" ? ":443" : ":80"
            if authority.hasSuffix(usualPort) { authority = authority.dropLast(usualPort.count) }
            return (authority, target.first == "/" ? target : "/" + target)
        }

        /// Returns true for a token, with a version behind a slash or without one (RFC 9110, 7.8).
        private static func isProtocol(_ text: String) -> Bool {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count <= 2 && parts.allSatisfy { HTTPField.Name(String($0)) != nil }
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = self.drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
