// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOHTTP1

/// What the head of a request must be beside what NIO's decoder holds it to.
enum RequestHead {
    /// Refuses a head that the backend could read in another way than this gateway: the connection must end then, since
    /// it is not certain where the body does.
    ///
    /// - Throws: ``GatewayError`` of `request.malformed`, or ``GatewayFault/transferCoding``.
    static func check(_ head: HTTPRequestHead) throws {
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        if !codings.isEmpty {
            guard codings.allSatisfy({ $0.lowercased() == "chunked" }) else { throw GatewayFault.transferCoding }
            guard codings.count == 1, head.version.minor >= 1, !head.headers.contains(name: "content-length") else {
                throw malformed("two framings")
            }
        }
        // The decoder has seen that there is one, that it is digits, and that it is below 2^64.
        guard head.headers["content-length"].allSatisfy({ Int($0) != nil }) else { throw malformed("a length of 2^63") }
        // The decoder has put it where bytes were no UTF-8: two credentials would become one, and a name another.
        let isOdd = head.headers.contains { field in
            !descriptive.contains(field.name.lowercased()) && field.value.unicodeScalars.contains("\u{FFFD}")
        }
        guard !isOdd else {
            throw malformed("a field that is not UTF-8")
        }
    }

    /// Fields that tell of the client and decide nothing; some apps write them in Latin-1.
    private static let descriptive: Set = [
        "accept-language", "content-disposition", "from", "origin", "referer", "user-agent", "via",
    ]

    private static func malformed(_ cause: String) -> GatewayError {
        GatewayError(fault: .malformed, cause: cause)
    }
}
