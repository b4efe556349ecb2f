// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Guesses from a name alone that its value must not be shown, for unknown names.
package enum SecretNames {
    /// Returns true if the name contains a word for a key, a token, a password or a credential.
    package static func looksSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["key", "secret", "pass", "token", "credential"].contains { name.contains($0) }
    }
}
