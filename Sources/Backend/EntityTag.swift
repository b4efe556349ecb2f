// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A version of a record as a field of HTTP names it (RFC 9110, 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// How it stands in a field: in quotes, maybe with `W/` before them.
    package let text: String

    /// The tag of a version: as it is where it has the form of one already, else in quotes.
    ///
    /// Nil where the version, which may be any text, is empty, longer than 256 bytes, or holds what cannot stand in a
    /// tag.
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
