// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// Reads the names by which others tell who is calling.
package enum IdentityName {
    /// Returns the name that a JSON value is: a valid text, or an integer in its digits; nil for all others.
    ///
    /// A number with a fraction or an exponent is no name: whoever wrote it may have rounded, and two users would be
    /// one.
    package static func of(_ value: JSONValue) -> String? {
        let text = value.string ?? value.number.flatMap { $0.isInteger ? $0.spelling : nil }
        return text.flatMap { isValid($0) ? $0 : nil }
    }

    /// Returns true if a text can be a name: 1 to 255 bytes without control characters.
    ///
    /// U+FFFD stands for what could not be read, so different texts may be the same with it.
    package static func isValid(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 && $0 != "\u{FFFD}" }
    }
}
