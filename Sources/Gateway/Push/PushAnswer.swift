// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A push that the backend has taken.
package struct PushAnswer: Sendable {
    /// The figures of the push.
    package let figures: SyncFigures
    /// The HTTP status.
    package let status: Int
    /// The body's type.
    package let contentType: String
    /// The body.
    package let body: [UInt8]
}
