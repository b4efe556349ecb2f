// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

// Finds the end of the body (RFC 9112, 6.3). A proxy that passes an answer on sends its own framing: if its length
// differed from the one that libcurl reads by, a part of this answer would become the beginning of another caller's.
extension Exchange.Head {
    /// Keeps at most one `Content-Length`, and none beside chunks, which take precedence.
    ///
    /// - Parameter isModern: True for an answer of HTTP/1.1; HTTP/1.0 has no transfer codings.
    /// - Returns: A description of the fault if the head has contradictory or unknown framing; otherwise nil.
    mutating func resolveFraming(isModern: Bool) -> String? {
        let codings = fields[values: .transferEncoding]
        guard codings.isEmpty else {
            // libcurl would decode others without being asked, and without a limit.
            guard isModern, codings.count == 1, codings[0].lowercased() == "chunked" else {
                return "the transfer encoding is not chunked"
            }
            mayKeepConnection = fields[.contentLength] == nil
            fields[.contentLength] = nil
            return nil
        }
        let lengths = fields[values: .contentLength].flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: false).map(Self.length(of:))
        }
        guard !lengths.isEmpty else { return nil }
        guard let length = lengths[0], lengths.allSatisfy({ $0 == length }) else {
            return "the content length is not one number"
        }
        fields[.contentLength] = String(length)
        return nil
    }

    /// Returns how the end of the body is found, once ``resolveFraming(isModern:)`` has found no fault.
    func framing(answering method: String) -> Exchange.Framing {
        if method == "HEAD" || status == .noContent || status == .notModified { return .none }
        if fields[.transferEncoding] != nil { return .chunks }
        return fields[.contentLength].flatMap { Int($0) }.map { .length($0) } ?? .close
    }

    /// Finds the fault of an answer that switches to another protocol.
    ///
    /// - Parameters:
    ///   - asked: The protocols that the server was asked to switch to, in small letters.
    ///   - isModern: True for an answer of HTTP/1.1; HTTP/1.0 has no other protocols.
    /// - Returns: A description of the fault; nil if it may switch.
    func faultOfSwitch(to asked: [String], isModern: Bool) -> String? {
        guard !asked.isEmpty else { return "the protocol was switched without being asked" }
        // Such an answer has no body, and a proxy on the way might take the tunnel's bytes for one.
        guard isModern, fields[.contentLength] == nil, fields[.transferEncoding] == nil else {
            return "the answer that switches protocols announces a body"
        }
        let chosen = fields[values: .upgrade].joined(separator: ",").lowercased()
        return asked.contains(chosen) ? nil : "the protocol was switched to one that was not asked for"
    }

    /// Returns true if an answer that has no body announces one: a server that sends it does so after libcurl has
    /// finished (RFC 9112, 6.3).
    func mayHideBody(answering method: String) -> Bool {
        guard method == "HEAD" || status == .noContent || status == .notModified else { return false }
        return fields[.transferEncoding] != nil || fields[.contentLength].map { $0 != "0" } ?? false
    }

    /// Reads a number of digits only: Swift's integer parsing also accepts signs.
    private static func length(of text: Substring) -> Int? {
        var digits = text.utf8[...]
        while digits.first == UInt8(ascii: " ") || digits.first == UInt8(ascii: "\t") { digits.removeFirst() }
        while digits.last == UInt8(ascii: " ") || digits.last == UInt8(ascii: "\t") { digits.removeLast() }
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(String(Substring(digits)))
    }
}
