// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the state keeps of pushed records that the backend has refused (`[push] rejected = quarantine`).
///
/// Nothing of it is ever collected: the operator decides. Methods throw ``StateError``, and then nothing has changed.
package protocol PushQuarantineStore: Sendable {
    /// Which records of a principal are set aside, and of what kind they are; empty for almost everybody.
    func setAsideKinds(of principal: Principal) async throws -> [PushedRecordKey: SetAsidePush.Kind]

    /// Sets records aside, each in place of the principal's older entry of the same record, whose mark goes.
    ///
    /// A change of a record whose creation was set aside stays a creation: the backend has never had it.
    ///
    /// - Parameters:
    ///   - pushes: The records.
    ///   - principal: Whose they are.
    ///   - limit: How many a principal may have.
    ///   - now: The time.
    /// - Returns: The numbers of the entries, in the order of the records.
    /// - Throws: ``StateError/tooLarge(_:)`` where the principal would have more than `limit`.
    func setAside(
        _ pushes: [SetAsidePush], of principal: Principal, limit: Int, at now: Int64
    ) async throws -> [Int64]

    /// Removes the entries of records that the backend has taken; ones that are not there are no error.
    func removeSetAside(_ keys: [PushedRecordKey], of principal: Principal) async throws

    /// The principal's entries that the operator wants to be tried again, the oldest first.
    func scheduledRetries(of principal: Principal, limit: Int) async throws -> [QuarantinedPush]

    /// Counts that of a marked entry nobody knows whether the backend has taken it; its mark stays.
    ///
    /// - Returns: How often that was since it was marked.
    func countTry(ofSetAside id: Int64, at now: Int64) async throws -> Int

    /// Notes that a marked entry was refused once more: its mark goes, its count rises. One that is gone is no error.
    func setAsideAgain(_ id: Int64, reason: SetAsidePush.Reason, at now: Int64) async throws
}

/// What the operator's commands do with what is set aside.
package protocol QuarantineAdmin: Sendable {
    /// Entries by their numbers, all or one principal's, from the one after `after` on; without bodies, at most 10,000.
    func quarantinedPushes(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantinedPush]

    /// One entry with its body.
    func quarantinedPush(_ id: Int64) async throws -> QuarantinedPush?

    /// Marks entries to be tried again with the next request of their principals; nil marks all of a principal, or of
    /// all.
    ///
    /// - Returns: The numbers of those that are there.
    func scheduleRetries(_ ids: [Int64]?, of principal: Principal?, at now: Int64) async throws -> [Int64]

    /// Deletes entries for good.
    ///
    /// - Returns: The numbers of those that were there.
    func dropPushes(_ ids: [Int64]) async throws -> [Int64]

    /// Lines of streams by their numbers, from the one after `after` on, all or those that came last for a principal.
    func quarantinedLines(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantineEntry]

    /// One line.
    func quarantinedLine(_ id: Int64) async throws -> QuarantineEntry?

    /// Deletes lines.
    ///
    /// - Returns: The numbers of those that were there.
    func dropLines(_ ids: [Int64]) async throws -> [Int64]
}
