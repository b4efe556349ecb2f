// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The position of a request in a distributed trace (https://www.w3.org/TR/trace-context/).
package struct TraceParent: Hashable, Sendable {
    /// The trace's id: 32 hexadecimal digits.
    package let traceID: String
    /// The value of `traceparent` for the calls that the request makes: it has a span of its own.
    package let field: String
    /// The value of `tracestate`, passed on unchanged.
    package let state: String?
    /// The most bytes of it that are passed on; a longer one is dropped, as the standard allows.
    private static let stateBytes = 512

    /// Reads the fields `traceparent` and `tracestate`; nil if the former is missing or not valid.
    ///
    /// Versions after 00 are read as far as they are known, as the standard demands.
    package init?(_ text: String?, state: String? = nil, span: UInt64 = .random(in: 1 ... .max)) {
        guard let text else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy({ Self.isHex($0, count: $1) }),
            parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            !parts[1].allSatisfy({ $0 == "0" }), !parts[2].allSatisfy({ $0 == "0" })
        else { return nil }
        traceID = String(parts[1])
        let digits = String(span, radix: 16)
        let flags = parts[0] == "00" ? parts[3] : "00"
        field = "00-\(parts[1])-\(String(repeating: "0", count: 16 - digits.count))\(digits)-\(flags)"
        self.state = state.flatMap { $0.utf8.count <= Self.stateBytes ? $0 : nil }
    }

    private static func isHex(_ text: Substring, count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
