// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import SyncModel

/// What a request's target means for those who compare paths.
///
/// Front and backend must never read one target in two ways, or a path that is refused here could be reached there.
/// So targets that could be are refused.
package enum RequestTarget {
    /// The longest target in bytes; what is longer gets 414.
    package static let maximumLength = 16 * 1_024

    /// Refuses what is no origin-form target (RFC 9112, 3.2.1): absolute URLs, `//…`, `*`, and bytes that a URL cannot
    /// have.
    ///
    /// - Throws: ``GatewayFault/targetInvalid`` or ``GatewayFault/targetTooLong``.
    package static func check(_ target: String) throws {
        guard target.utf8.count <= maximumLength else { throw GatewayFault.targetTooLong }
        let isClean = target.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "#")
        }
        guard isClean, target.hasPrefix("/"), !target.hasPrefix("//") else { throw GatewayFault.targetInvalid }
    }

    /// Refuses a path that the backend might read in another way than this gateway.
    ///
    /// Which segments those are, ``PathSegment`` knows: the same hold for ids in calls. ASCII in more bytes than one is
    /// another such reading.
    ///
    /// - Throws: ``GatewayFault/ambiguousPath``.
    package static func checkUnambiguous(_ path: some StringProtocol) throws {
        for segment in path.utf8.split(separator: UInt8(ascii: "/")) {
            let decoded = PercentCoding.decode(segment)
            guard !PathSegment.isAmbiguous(segment), OverlongUTF8.shortened(decoded) == decoded else {
                throw GatewayFault.ambiguousPath
            }
        }
    }

    /// The paths that some server might read in this one, each as its segments.
    ///
    /// Escapes are decoded once, twice and so on, backslashes are slashes, empty segments and dots are resolved, and
    /// each reading comes with and without what follows a semicolon, without dots and white space behind names, and
    /// without the last name's endings, as in `/users.json`. ASCII in more bytes than one is what it stands for.
    package static func readings(of path: some StringProtocol) -> [[[UInt8]]] {
        var readings: [[[UInt8]]] = []
        var bytes = Array(path.utf8)
        // Each round decodes what the one before left; a path shrinks with it, so it ends by itself.
        while true {
            for keepsParameters in [true, false] {
                let plain = segments(of: bytes, keepingParameters: keepsParameters)
                let trimmed = plain.map(withoutTail).filter { !$0.isEmpty }
                readings += [plain, trimmed] + withoutEndings(trimmed)
            }
            let decoded = OverlongUTF8.shortened(PercentCoding.decode(bytes))
            if decoded == bytes || readings.count >= 64 { return readings }
            bytes = decoded
        }
    }

    private static func segments(of path: [UInt8], keepingParameters: Bool) -> [[UInt8]] {
        var segments: [[UInt8]] = []
        for part in path.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) {
            var name = part.prefix { $0 != 0 }
            if !keepingParameters { name = name.prefix { $0 != UInt8(ascii: ";") } }
            if name.isEmpty || name.elementsEqual(".".utf8) { continue }
            if name.elementsEqual("..".utf8) { _ = segments.popLast() } else { segments.append(Array(name)) }
        }
        return segments
    }

    /// A name as file systems and lenient routers read it: without dots, spaces and control bytes behind it.
    private static func withoutTail(_ name: [UInt8]) -> [UInt8] {
        var name = name
        while let last = name.last, last <= 0x20 || last == 0x7F || last == UInt8(ascii: ".") { name.removeLast() }
        return name
    }

    /// The path with fewer and fewer of the endings behind its last name, which some routers read as a format.
    private static func withoutEndings(_ segments: [[UInt8]]) -> [[[UInt8]]] {
        guard let last = segments.last else { return [] }
        return last.indices.dropFirst().filter { last[$0] == UInt8(ascii: ".") }.suffix(8).map {
            segments.dropLast() + [Array(last[..<$0])]
        }
    }
}
