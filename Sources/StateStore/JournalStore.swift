// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the state keeps of pushes by calls (finding 19).
///
/// A journal is open from ``beginPush(_:principal:at:)`` until ``endPush(_:of:at:)``, or until somebody closes it
/// because the gateway that ran it is gone. Whoever still runs it then finds that out at its next step, before it sends
/// anything: that is the fence between two gateways on one state; a store with leases also compares their numbers here.
/// Methods throw ``StateError``, and then nothing has changed.
package protocol JournalStore: Sendable {
    /// Opens a journal and writes notes, before the first call to the backend.
    ///
    /// - Returns: Its number, never given before.
    func beginPush(_ opening: JournalOpening, principal: Principal, at now: Int64) async throws -> Int64

    /// Writes what became of operations, and what is about to be sent.
    ///
    /// - Throws: ``StateError/journalClosed`` where somebody has closed it: send nothing more.
    func advance(_ step: JournalStep, of journal: Int64, at now: Int64) async throws

    /// Writes how the push ends, before its client hears of it.
    ///
    /// A push that was applied, and one of which nothing was, leave no journal. It stays open where a creation may have
    /// happened of which nobody knows the id; other operations that may have been applied are kept to be shown.
    ///
    /// - Throws: ``StateError/journalClosed`` as ``advance(_:of:at:)`` does, and ``StateError/tooLarge(_:)`` for a
    ///   receipt over the limit: end it without one.
    func endPush(_ end: JournalEnd, of journal: Int64, at now: Int64) async throws

    /// The open journals of a principal, the oldest first, with what is in flight; empty for almost everybody.
    func openJournals(of principal: Principal) async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])]

    /// Counts that a journal could not be closed although the backend answers.
    ///
    /// - Returns: How often that was, and when it was for the first time.
    func countTry(of journal: Int64, at now: Int64) async throws -> (tries: Int, since: Int64)

    /// Notes that the request of an in-flight operation is not repeated any more, and forgets it.
    func giveUp(_ place: Int, of journal: Int64) async throws

    /// Whether the request of a record was given up once, as far as journals that are kept tell.
    func wasGivenUp(_ record: PushedRecordKey, of principal: Principal) async throws -> Bool

    /// Which of some ids of the backend are known to be records of the principal's that have ids of their own.
    func mappedIDs(_ ids: Set<String>, in table: String, of principal: Principal) async throws -> Set<String>

    /// Closes a journal with what was found out; one that is not open is no error.
    func closeJournal(_ journal: Int64, with closure: JournalClosure, at now: Int64) async throws
}

/// What the operator's commands see of it.
package protocol JournalAdmin: Sendable {
    /// Journals by their numbers, all or one principal's, from the one after `after` on, at most 10,000.
    func journals(of principal: Principal?, after: Int64, limit: Int) async throws -> [PushJournal]

    /// One journal, with what of it is or was in flight.
    func journal(_ id: Int64) async throws -> (journal: PushJournal, inFlight: [InFlightOperation])?
}
