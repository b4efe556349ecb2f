// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
package import Gzip
import HTTPTypes

/// Interprets `Accept-Encoding` and `Content-Encoding` (RFC 9110, 8.4 and 12.5.3).
package enum ContentCoding {
    /// Returns true if an answer should be gzip by the request's `Accept-Encoding` fields.
    ///
    /// That is so if gzip has a weight above zero that is not below that of identity.
    package static func acceptsGzip(_ field: String?) -> Bool {
        guard let field else { return false }
        var gzip: Int?
        var identity: Int?
        var others: Int?
        for part in field.split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.trimmedSpaces.lowercased() }
            guard let name = pieces.first else { continue }
            let weight = weight(of: pieces.dropFirst())
            switch name {
            case "gzip", "x-gzip": gzip = max(gzip ?? 0, weight)
            case "identity": identity = weight
            case "*": others = weight
            default: break
            }
        }
        let weight = gzip ?? others ?? 0
        return weight > 0 && weight >= identity ?? 0
    }

    /// Returns the compression of a request's body; nil if it is not compressed.
    ///
    /// - Throws: `RequestFailure` of `request.encoding` (415) for everything except one of gzip, x-gzip and deflate.
    package static func format(of field: String?) throws -> Inflater.Format? {
        let codings = (field ?? "").split(separator: ",").map { $0.trimmedSpaces.lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        switch codings {
        case []: return nil
        case ["gzip"], ["x-gzip"]: return .gzip
        case ["deflate"]: return .deflate
        default:
            throw RequestFailure(GatewayError(fault: .contentEncoding), fields: [.acceptEncoding: "gzip, deflate"])
        }
    }

    /// Returns a weight in thousandths; a malformed one counts as zero.
    private static func weight(of parameters: some Sequence<String>) -> Int {
        guard let parameter = parameters.first(where: { $0.hasPrefix("q=") }) else { return 1_000 }
        let text = parameter.dropFirst(2)
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first, whole == "0" || whole == "1", parts.count <= 2 else { return 0 }
        let digits = parts.count == 2 ? parts[1] : ""
        guard digits.count <= 3, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return 0 }
        let thousandths = Int(digits + String(repeating: "0", count: 3 - digits.count)) ?? 0
        return whole == "1" ? 1_000 : thousandths
    }
}

extension StringProtocol {
    /// The text without spaces and tabs around it.
    var trimmedSpaces: String {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
