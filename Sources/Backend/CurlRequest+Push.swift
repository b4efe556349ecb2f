// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes

extension CurlRequest {
    private static let idempotencyKey = HTTPField.Name("Idempotency-Key")

    /// Pushes these operations under an idempotency key.
    mutating func push(_ operations: CurlRequest.Body, key: String) {
        body = operations
        fields[.contentType] = "application/jsonlines+json"
        if let name = Self.idempotencyKey { fields[name] = key }
        // The key makes it idempotent.
        isIdempotent = true
    }
}
