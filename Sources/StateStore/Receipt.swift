// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The answer of a push, kept for the case that the client never saw it (finding 18).
package struct Receipt: Hashable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The body's type.
    package var contentType: String
    /// The body.
    package var body: [UInt8]

    /// An answer.
    package init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
