// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import Testing

/// Names whose values are hidden wherever they are shown.
@Suite struct SecretNamesTests {
    @Test(arguments: [
        "key", "API_KEY", "apikeys", "Secret", "db_password", "passphrase", "x-access-ToKen", "credentials", "clé_key",
        "Ünique-PASS",
    ])
    func `a name with such a word in it looks secret, in whatever case`(_ name: String) {
        #expect(SecretNames.looksSecret(name))
    }

    @Test(arguments: [
        "", "k", "ke", "ke y", "toke", "principal", "path", "pas", "sekret", "status", "größe", "K%Y", "\u{0B}EY",
    ])
    func `any other name does not`(_ name: String) {
        #expect(!SecretNames.looksSecret(name))
    }
}
