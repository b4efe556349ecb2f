// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// An operation of a push that was refused.
package struct RefusedOperation: Hashable, Sendable {
    /// The record that the operation was about.
    package var key: PushedRecordKey
    /// The kind of change that the client made.
    package var kind: OperationKind
    /// The call that the backend refused, as the configuration writes it; nil if there was none.
    package var call: String?
    /// The reason for the refusal.
    package var reason: QuarantinedOperation.Reason

    /// Creates a refused operation.
    package init(
        key: PushedRecordKey, kind: OperationKind, call: String?, reason: QuarantinedOperation.Reason
    ) {
        self.key = key
        self.kind = kind
        self.call = call
        self.reason = reason
    }
}

/// A refused operation with its history.
package struct RefusalEntry: Hashable, Sendable {
    /// The operation that was refused last.
    package var operation: RefusedOperation
    /// The number of refused operations on the record.
    package var count: Int
    /// The time of the first refusal.
    package var firstAt: Instant
    /// The time of the last refusal.
    package var lastAt: Instant
}
