// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Guesses from a name alone that its value must not be shown, for unknown names.
package enum SecretNames {
    private static let words = ["key", "secret", "pass", "token", "credential"].map { Array($0.utf8) }

    /// Returns true if the name contains a word for a key, a token, a password or a credential.
    ///
    /// Every field of every log line is looked at, so names in ASCII take no memory.
    package static func looksSecret(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.allSatisfy({ $0 < 0x80 }) else {
            let name = name.lowercased()
            return words.contains { name.contains(String(decoding: $0, as: UTF8.self)) }
        }
        return bytes.indices.contains { start in
            words.contains { word in
                // The bit that makes a capital letter small makes a letter of these words of nothing else.
                word[0] == bytes[start] | 0x20 && bytes[start...].starts(with: word, by: { $0 | 0x20 == $1 })
            }
        }
    }
}
