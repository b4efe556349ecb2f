// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// An operation of a push that was refused.
package struct RefusedOperation: Hashable, Sendable {
    /// Which record it was about.
    package var key: PushedRecordKey
    /// What the client did with it.
    package var kind: SetAsidePush.Kind
    /// The call that the backend refused, as the configuration writes it; nil where none was made.
    package var call: String?
    /// Why it was refused.
    package var reason: SetAsidePush.Reason

    /// A refused operation.
    package init(key: PushedRecordKey, kind: SetAsidePush.Kind, call: String?, reason: SetAsidePush.Reason) {
        self.key = key
        self.kind = kind
        self.call = call
        self.reason = reason
    }
}

/// A refused operation with its history.
package struct RefusalEntry: Hashable, Sendable {
    /// The operation as it was refused last.
    package var operation: RefusedOperation
    /// How often operations on its record were refused.
    package var count: Int
    /// When one was refused first, in milliseconds since 1970.
    package var firstAt: Int64
    /// When one was refused last.
    package var lastAt: Int64

    /// An entry.
    package init(operation: RefusedOperation, count: Int, firstAt: Int64, lastAt: Int64) {
        self.operation = operation
        self.count = count
        self.firstAt = firstAt
        self.lastAt = lastAt
    }
}

/// What the state keeps of refused operations, so that an operator can see why a device cannot push.
///
/// A principal has at most ``StateLimits/refusalsPerPrincipal``, the newest; they are collected with old journals. What
/// the backend takes later does not remove them: they tell what has happened.
package protocol RefusalStore: Sendable {
    /// Notes what was refused of a push, and that it was the last that the replica came to.
    ///
    /// Nothing is noted of a principal that the state does not know.
    ///
    /// - Parameters:
    ///   - operations: What was refused.
    ///   - principal: Whose push it was.
    ///   - replica: The database that pushed; nil where it is unknown.
    ///   - result: What `rind replicas` says of it.
    ///   - now: The time.
    /// - Throws: ``StateError``; the push ends as it would all the same.
    func noteRefusals(
        _ operations: [RefusedOperation], of principal: Principal, replica: ReplicaID?, result: String, at now: Int64
    ) async throws

    /// What was refused of a principal's pushes, the newest first.
    func refusals(of principal: Principal, limit: Int) async throws -> [RefusalEntry]

    /// What was refused last of one record; nil where nothing was, or that is forgotten.
    func refusal(of principal: Principal, key: PushedRecordKey) async throws -> RefusalEntry?
}
