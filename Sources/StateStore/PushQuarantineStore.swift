// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Stores pushed records that the backend has refused (`[push] rejected = quarantine`).
///
/// No entry is ever collected: the operator decides. If a method throws ``StateError``, nothing has changed.
package protocol PushQuarantineStore: Sendable {
    /// Returns a principal's quarantined records with their kinds; almost always empty.
    func quarantinedKinds(of principal: Principal) async throws -> [PushedRecordKey: OperationKind]

    /// Puts records into quarantine, each in place of the principal's older entry of the same record, whose scheduled
    /// retry is cancelled.
    ///
    /// An update of a record whose create is in quarantine stays a create: the backend has never had the record.
    ///
    /// - Parameters:
    ///   - pushes: The records.
    ///   - principal: The principal that pushed them.
    ///   - limit: The most entries that a principal may have.
    ///   - now: The time.
    /// - Returns: The numbers of the entries, in the order of the records.
    /// - Throws: ``StateError/tooLarge(_:)`` if the principal would have more than `limit` entries.
    func quarantine(
        _ pushes: [QuarantinedOperation], of principal: Principal, limit: Int, at now: Instant
    ) async throws -> [Int64]

    /// Removes the entries of records that the backend has accepted; a record without an entry is not an error.
    func removeQuarantined(_ keys: [PushedRecordKey], of principal: Principal) async throws

    /// Returns the principal's scheduled retries, oldest first.
    func scheduledRetries(of principal: Principal, limit: Int) async throws -> [QuarantinedPush]

    /// Counts a scheduled retry whose outcome is unknown; it stays scheduled.
    ///
    /// - Returns: The number of such retries since the entry was scheduled.
    func countTry(ofQuarantined id: Int64, at now: Instant) async throws -> Int

    /// Records that a scheduled retry was refused: the entry is no longer scheduled, and its count rises. An entry that
    /// is gone is not an error.
    func quarantineAgain(_ id: Int64, reason: QuarantinedOperation.Reason, at now: Instant) async throws
}

/// Serves the operator's commands on the quarantine.
package protocol QuarantineAdmin: Sendable {
    /// Returns entries by their numbers, all or one principal's, beginning with the one after `after`; without bodies,
    /// at most 10,000.
    func quarantinedPushes(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantinedPush]

    /// Returns one entry with its body.
    func quarantinedPush(_ id: Int64) async throws -> QuarantinedPush?

    /// Schedules entries to be retried with their principals' next requests; nil schedules all entries, or all of one
    /// principal.
    ///
    /// - Returns: The numbers of the entries that exist.
    func scheduleRetries(_ ids: [Int64]?, of principal: Principal?, at now: Instant) async throws -> [Int64]

    /// Deletes entries for good.
    ///
    /// - Returns: The numbers of the entries that existed.
    func dropPushes(_ ids: [Int64]) async throws -> [Int64]

    /// Returns quarantined stream lines by their numbers, beginning with the one after `after`: all, or those that came
    /// last for one principal.
    func quarantinedLines(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantineEntry]

    /// Returns one line.
    func quarantinedLine(_ id: Int64) async throws -> QuarantineEntry?

    /// Deletes lines.
    ///
    /// - Returns: The numbers of the lines that existed.
    func dropLines(_ ids: [Int64]) async throws -> [Int64]
}
