// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import SyncModel

/// Checks the target of a request, and finds the ways in which servers could read it.
///
/// Gateway and backend must never read one target in two ways, or a path that is refused here could be reached there.
/// Targets that could be read in two ways are therefore refused.
package enum RequestTarget {
    /// The longest target in bytes; a longer one gets 414.
    package static let maximumLength = 16 * 1_024

    /// Refuses a target that is not in origin form (RFC 9112, 3.2.1): absolute URLs, `//…`, `*`, and bytes that a URL
    /// cannot have.
    ///
    /// - Throws: ``GatewayFault/targetInvalid`` or ``GatewayFault/targetTooLong``.
    package static func check(_ target: String) throws {
        guard target.utf8.count <= maximumLength else { throw GatewayFault.targetTooLong }
        let isClean = target.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "#")
        }
        guard isClean, target.hasPrefix("/"), !target.hasPrefix("//") else { throw GatewayFault.targetInvalid }
    }

    /// Refuses a path that the backend might read differently from this gateway.
    ///
    /// ``PathSegment`` decides which segments those are: the same as for ids in calls. Overlong encodings of ASCII are
    /// refused, too.
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

    /// Returns the paths that some server might read in this one, each as its segments.
    ///
    /// Escapes are decoded once, twice and so on, backslashes become slashes, empty segments and dots are resolved.
    /// Each reading comes with and without the parts after semicolons, without dots and white space at the ends of
    /// names, and without the last name's endings, as in `/users.json`. Overlong encodings of ASCII become the
    /// characters they stand for.
    package static func readings(of path: some StringProtocol) -> [[[UInt8]]] {
        var readings: [[[UInt8]]] = []
        var bytes = Array(path.utf8)
        // Each round decodes the result of the one before; the path shrinks with it, so this ends.
        while true {
            for keepsParameters in [true, false] {
                let plain = segments(of: bytes, keepingParameters: keepsParameters, trimming: false)
                let trimmed = segments(of: bytes, keepingParameters: keepsParameters, trimming: true)
                readings += [plain, trimmed] + withoutEndings(trimmed)
            }
            let decoded = OverlongUTF8.shortened(PercentCoding.decode(bytes))
            if decoded == bytes || readings.count >= 64 { return readings }
            bytes = decoded
        }
    }

    private static func segments(of path: [UInt8], keepingParameters: Bool, trimming: Bool) -> [[UInt8]] {
        var segments: [[UInt8]] = []
        for part in path.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) {
            var name = part.prefix { $0 != 0 }
            if !keepingParameters { name = name.prefix { $0 != UInt8(ascii: ";") } }
            // Before dots are looked at: with a space, the name of the parent is still that for some.
            if trimming {
                name = name.drop(while: isBlank)
                while let last = name.last, isBlank(last) { name.removeLast() }
            }
            if name.isEmpty || name.elementsEqual(".".utf8) { continue }
            if name.elementsEqual("..".utf8) {
                _ = segments.popLast()
            } else {
                let name = trimming ? withoutTail(Array(name)) : Array(name)
                if !name.isEmpty { segments.append(name) }
            }
        }
        return segments
    }

    /// Returns a name as file systems and lenient routers read it: without dots, spaces and control bytes at its end.
    private static func withoutTail(_ name: [UInt8]) -> [UInt8] {
        var name = name
        while let last = name.last, isBlank(last) || last == UInt8(ascii: ".") { name.removeLast() }
        return name
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x7F }

    /// Returns the path with fewer and fewer of the endings of its last name, which some routers read as a format.
    private static func withoutEndings(_ segments: [[UInt8]]) -> [[[UInt8]]] {
        guard let last = segments.last else { return [] }
        return last.indices.dropFirst().filter { last[$0] == UInt8(ascii: ".") }.suffix(8).map {
            segments.dropLast() + [withoutTail(Array(last[..<$0]))]
        }
    }
}
