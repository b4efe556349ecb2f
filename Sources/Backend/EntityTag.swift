// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The version of a record as an HTTP field names it (RFC 9110, 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The tag as a field holds it: in quotes, possibly with `W/` before them.
    package let text: String

    /// Creates the tag of a version: the version itself if it already has the form of a tag, otherwise in quotes.
    ///
    /// Returns nil if the version, which may be any text, is empty, is longer than 256 bytes, or has characters that a
    /// tag cannot have.
    package init?(version: String) {
        let weak = version.hasPrefix("W/") ? 2 : 0
        let rest = version.utf8.dropFirst(weak)
        let isQuoted = rest.count >= 2 && rest.first == UInt8(ascii: "\"") && rest.last == UInt8(ascii: "\"")
        let opaque = isQuoted ? rest.dropFirst().dropLast() : version.utf8[...]
        guard !version.isEmpty, version.utf8.count <= 256,
            opaque.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) })
        else { return nil }
        text = isQuoted ? version : "\"\(version)\""
    }
}
