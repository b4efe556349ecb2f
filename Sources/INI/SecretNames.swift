// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Guesses from a name alone that its value must not be shown, for unknown names.
package enum SecretNames {
    private static let words = ["key", "secret", "pass", "token", "credential"].map { Array($0.utf8) }

    /// Returns true if the name contains a word for a key, a token, a password or a credential.
    ///
    /// Every field of every log line is looked at, so names in ASCII are not copied.
    package static func looksSecret(_ name: String) -> Bool {
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
            let name = name.lowercased()
            return words.contains { name.contains(String(decoding: $0, as: UTF8.self)) }
        }
        let bytes = name.utf8
        for start in bytes.indices {
            // The bit that makes a capital letter small makes a letter of these words of nothing else.
            let first = bytes[start] | 0x20
            for word in words where word[0] == first {
                let rest = bytes[start...].prefix(word.count)
                if rest.elementsEqual(word, by: { $0 | 0x20 == $1 }) { return true }
            }
        }
        return false
    }
}
