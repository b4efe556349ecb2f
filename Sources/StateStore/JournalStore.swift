// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Stores the progress of pushes by calls (finding 19).
///
/// A journal is open from ``beginPush(_:principal:at:)`` until ``endPush(_:of:at:)``, or until push recovery closes it because
/// the gateway that ran the push is gone. If that gateway still runs the push, its next step fails before it sends
/// anything: this is the fence between two gateways on one state. A store with leases also compares their numbers here.
/// The contract of ``StateStore`` holds for every method.
package protocol JournalStore: Sendable {
    /// Opens a journal and writes notes, before the first call to the backend.
    ///
    /// - Returns: The journal's number, never given before.
    func beginPush(_ opening: JournalOpening, principal: Principal, at now: Instant) async throws -> Int64

    /// Writes the outcomes of operations, and the operations that are about to be sent.
    ///
    /// - Throws: ``StateError/journalClosed`` if the journal has been closed elsewhere: send nothing more.
    func advance(_ step: JournalStep, of journal: Int64, at now: Instant) async throws

    /// Writes the end of the push, before its client gets the answer.
    ///
    /// A push that was applied completely, or not at all, leaves no journal. The journal stays open if a create may
    /// have succeeded under an unknown id. Other operations that may have been applied are kept for the operator.
    ///
    /// - Throws: ``StateError/journalClosed`` as ``advance(_:of:at:)`` does, and ``StateError/tooLarge(_:)`` for a
    ///   receipt over the limit: end the push without one.
    func endPush(_ end: JournalEnd, of journal: Int64, at now: Instant) async throws

    /// Returns a principal's open journals, oldest first, with their in-stored operations; almost always empty.
    func openJournals(of principal: Principal) async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])]

    /// Counts a failed attempt of push recovery to resolve a journal although the backend answers.
    ///
    /// - Returns: The number of such attempts, and the time of the first one.
    func countTry(of journal: Int64, at now: Instant) async throws -> (tries: Int, since: Instant)

    /// Records that the request of an in-stored operation will not be repeated, and deletes the request.
    func giveUp(_ index: Int, of journal: Int64) async throws

    /// Returns true if the request of a record was given up once, according to the journals that are kept.
    func wasGivenUp(_ record: PushedRecordKey, of principal: Principal) async throws -> Bool

    /// Returns those of the backend's ids that belong to the principal's records with mapped ids.
    func mappedIDs(_ ids: Set<String>, in table: String, of principal: Principal) async throws -> Set<String>

    /// Closes a journal with the results of push recovery; a journal that is not open is not an error.
    func closeJournal(_ journal: Int64, with closure: JournalClosure, at now: Instant) async throws
}

/// Adds the reads of journals that the operator's commands need.
package protocol JournalAdmin: Sendable {
    /// Returns journals by their numbers, all or one principal's, beginning with the one after `after`, at most 10,000.
    func journals(of principal: Principal?, after: Int64, limit: Int) async throws -> [PushJournal]

    /// Returns one journal, with the operations that are or were in stored.
    func journal(_ id: Int64) async throws -> (journal: PushJournal, inFlight: [InFlightOperation])?
}
