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

    /// Creates an entry.
    package init(operation: RefusedOperation, count: Int, firstAt: Instant, lastAt: Instant) {
        self.operation = operation
        self.count = count
        self.firstAt = firstAt
        self.lastAt = lastAt
    }
}

/// Stores refused operations, so that an operator can see why a device cannot push.
///
/// A principal has at most ``StateLimits/refusalsPerPrincipal``, the newest; they are collected together with old
/// journals. They are a history: an operation that the backend accepts later does not remove them.
package protocol RefusalStore: Sendable {
    /// Records the refused operations of a push, and its result as the replica's last one.
    ///
    /// Nothing is recorded for a principal that the state does not know.
    ///
    /// - Parameters:
    ///   - operations: The refused operations.
    ///   - principal: The principal that pushed.
    ///   - replica: The database that pushed; nil if it is unknown.
    ///   - result: The result that `rind replicas` shows.
    ///   - now: The time.
    /// - Throws: ``StateError``; the push ends in the same way nevertheless.
    func noteRefusals(
        _ operations: [RefusedOperation], of principal: Principal, replica: ReplicaID?, result: String, at now: Instant
    ) async throws

    /// Returns the refused operations of a principal's pushes, newest first.
    func refusals(of principal: Principal, limit: Int) async throws -> [RefusalEntry]

    /// Returns the last refusal of one record; nil if there is none or it has been deleted.
    func refusal(of principal: Principal, key: PushedRecordKey) async throws -> RefusalEntry?
}
