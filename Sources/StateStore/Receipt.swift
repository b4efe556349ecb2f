// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The answer to a push, kept in case the client has never received it (finding 18).
package struct Receipt: Hashable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The content type of the body.
    package var contentType: String
    /// The body.
    package var body: [UInt8]

    /// Creates a receipt.
    package init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
