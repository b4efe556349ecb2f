// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Guesses from a name alone that its value must not be shown, for unknown names.
package enum SecretNames {
    private static let words = ["key", "secret", "pass", "token", "credential"].map { Array($0.utf8) }

    /// Returns true if the name contains a word for a key, a token, a password or a credential.
    ///
    /// Every field of every log line is looked at, so names in ASCII are only copied once.
    package static func looksSecret(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.allSatisfy({ $0 < 0x80 }) else {
            let name = name.lowercased()
            return words.contains { name.contains(String(decoding: $0, as: UTF8.self)) }
        }
        let name = Array(bytes)
        for start in name.indices {
            for word in words where begins(name, at: start, with: word) { return true }
        }
        return false
    }

    // Every field of the log comes here; plain loops cost least.
    private static func begins(_ name: [UInt8], at start: Int, with word: [UInt8]) -> Bool {
        guard word.count <= name.count - start else { return false }
        for index in word.indices {
            // The bit that makes a capital letter small makes a letter of these words of nothing else.
            guard name[start + index] | 0x20 == word[index] else { return false }
        }
        return true
    }
}
