// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A versioned type name of the backend's stream, split into its base name and its version.
package struct WireType: Hashable, Sendable, CustomStringConvertible {
    /// The full name, such as `AlbumV2`.
    package let name: String

    /// Creates a type from its full name.
    package init(_ name: String) { self.name = name }

    /// The name without its `V<n>` suffix: `Album` for `AlbumV2`; the whole name if it has no suffix.
    package var baseName: Substring {
        guard let digits = versionDigits else { return name[...] }
        return name[..<name.index(before: digits.startIndex)]
    }

    /// The number in the `V<n>` suffix; nil if there is none.
    package var version: Int? { versionDigits.flatMap { Int($0) } }

    /// The full name.
    package var description: String { name }

    private var versionDigits: Substring? {
        let digits = name[
            (name.lastIndex { !$0.isASCII || !$0.isNumber }.map { name.index(after: $0) } ?? name.endIndex)...]
        guard !digits.isEmpty, digits.startIndex > name.startIndex, name[name.index(before: digits.startIndex)] == "V"
        else { return nil }
        return digits
    }
}
