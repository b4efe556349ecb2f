// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The reason why a token does not count.
struct TokenRefusal: Error, Hashable {
    /// The check that failed, as the log names it.
    enum Check: String {
        case form, algorithm, key, signature, expiry = "exp", begin = "nbf", issuer = "iss", audience = "aud", claim
    }

    let check: Check
    /// The cause in words, without anything of the token but the names in it that are no secrets.
    let cause: String

    init(_ check: Check, _ cause: String) {
        self.check = check
        self.cause = cause
    }
}
