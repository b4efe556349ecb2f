// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

// Where the body ends (RFC 9112, 6.3). Whoever passes an answer on says its length anew: a length that is not the one
// that libcurl reads by would make a part of this answer the beginning of somebody else's.
extension Exchange.Head {
    /// Leaves at most one `Content-Length`, and none beside chunks, which come before it.
    ///
    /// - Parameter isModern: Whether the answer is of HTTP/1.1, not 1.0, which knows no transfer codings.
    /// - Returns: What is wrong where the head says it in several ways, or in one that is not understood.
    mutating func resolveFraming(isModern: Bool) -> String? {
        let codings = fields[values: .transferEncoding]
        guard codings.isEmpty else {
            // libcurl would undo others without being asked, and without a limit.
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

    /// Digits alone: what integers are read by takes signs, too.
    private static func length(of text: Substring) -> Int? {
        var digits = text.utf8[...]
        while digits.first == UInt8(ascii: " ") || digits.first == UInt8(ascii: "\t") { digits.removeFirst() }
        while digits.last == UInt8(ascii: " ") || digits.last == UInt8(ascii: "\t") { digits.removeLast() }
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(String(Substring(digits)))
    }
}
