// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
import SyncModel

/// The shape of a value without its content, for logs and the quarantine: `text "99,99"`, `object with $date`.
///
/// Texts are masked as ``ForeignText/shape(of:)`` does.
package struct ValueShape: CustomStringConvertible {
    /// The most characters of a text that are shown.
    private static let maximumLength = 32

    /// The shape in words.
    package let description: String

    /// Describes a value.
    package init(_ value: JSONSlice) {
        switch value.kind {
        case .null: description = "null"
        case .boolean: description = "boolean"
        case .number: description = "number \(Self.masked(value.bytes))"
        case .string: description = "text \"\(value.withText { Self.masked($0) })\""
        case .array:
            var count = 0
            value.forEachElement { _ in count += 1 }
            description = "array of \(count)"
        case .object:
            var count = 0
            var operatorName: String?
            value.forEachMember { name, _ in
                count += 1
                if ExtendedJSON.isOperator(name) { operatorName = name.string }
            }
            description = operatorName.map { "object with \($0)" } ?? "object of \(count)"
        }
    }

    private static func masked(_ text: UnsafeRawBufferPointer) -> String {
        let shown = String(decoding: text.prefix(4 * maximumLength), as: UTF8.self).unicodeScalars
        let masked = ForeignText.shape(of: String(String.UnicodeScalarView(shown.prefix(maximumLength))))
        return masked + (shown.count > maximumLength ? "…" : "")
    }
}
