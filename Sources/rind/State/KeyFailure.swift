// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The state was written under another identity key.
enum KeyFailure: String, Error {
    case other = "identity.other_key"
}
