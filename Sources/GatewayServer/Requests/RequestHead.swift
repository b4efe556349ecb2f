// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOHTTP1
import SyncModel

/// Checks the head of a request for faults that NIO's decoder allows.
enum RequestHead {
    /// Refuses a head that the backend could read differently from this gateway: the connection must then end, since
    /// the end of the body is uncertain.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - reads: Returns true if a field, named in small letters, may decide anything.
    /// - Throws: ``GatewayError`` of `request.malformed`, or ``GatewayFault/transferCoding``.
    static func check(_ head: HTTPRequestHead, reads: (String) -> Bool) throws {
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        if !codings.isEmpty {
            guard codings.allSatisfy({ $0.lowercased() == "chunked" }) else { throw GatewayFault.transferCoding }
            guard codings.count == 1, head.version.minor >= 1, !head.headers.contains(name: "content-length") else {
                throw malformed("two framings")
            }
        }
        // The decoder has checked that there is only one, that it is digits, and that it is below 2^64.
        guard head.headers["content-length"].allSatisfy({ Int($0) != nil }) else { throw malformed("a length of 2^63") }
        // The decoder puts U+FFFD in place of bytes that are not UTF-8: different credentials or names would become
        // equal.
        let odd = head.headers.first { field in
            guard field.value.unicodeScalars.contains("\u{FFFD}") else { return false }
            let name = field.name.lowercased()
            return !descriptive.contains(name) && reads(name)
        }
        if let odd { throw malformed("the field \(ForeignText.cut(odd.name, to: 60)) is not UTF-8") }
    }

    /// The fields that describe the client and decide nothing; some apps write them in Latin-1.
    private static let descriptive: Set = [
        "accept-language", "content-disposition", "from", "origin", "referer", "user-agent", "via",
    ]

    private static func malformed(_ cause: String) -> GatewayError {
        GatewayError(fault: .malformed, cause: cause)
    }
}
