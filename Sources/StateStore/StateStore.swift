// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The gateway's durable memory: how far each device has got.
///
/// Each method is one transaction and durable when it returns, unless its documentation says otherwise. Their order in
/// a pull and a push is listed in `docs/ARCHITECTURE.md`, State. If a method of one transaction throws ``StateError``,
/// nothing has changed.
///
/// Reads throw `CancellationError` if the task is cancelled. Writes are finished even if the caller is cancelled,
/// because a client that hangs up must not undo changes that its backend has accepted; so are reads that decide whether
/// something is written. Moments are from the caller's clock.
package protocol StateStore: LedgerStore, PushQuarantineStore, RefusalStore, JournalStore, IDMapStore,
    LeaseStore, TroubleStore
{
    /// Reads all that the state knows when a pull or push begins.
    ///
    /// - Parameters:
    ///   - principal: The caller.
    ///   - session: The backend session of the call.
    ///   - presented: The cursor that the client sent; nil for a first sync.
    /// - Returns: One consistent snapshot.
    /// - Throws: ``StateError``.
    func pullContext(principal: Principal, session: Session, presented: Cursor?) async throws -> StoredPullContext

    /// Records that the cursor came back, so that everything up to its vector is on the device.
    ///
    /// The cursor becomes the tip of its replica if it was made from the tip, or is the replica's first. If the replica
    /// has gone on without the cursor, the cursor stays unconfirmed: it begins a replica of its own
    /// (``StoredPullContext/isFork``).
    ///
    /// Changes nothing if the cursor was confirmed before and its replica was seen within the touch interval. A cursor
    /// that is not the replica's first is stored later (``storeDeferred()``): if it is lost, the device presents it again.
    ///
    /// - Throws: ``StateError/cursorUnknown(_:)`` if the cursor has been collected since: treat it as unknown.
    func confirm(principal: Principal, cursor: Cursor, at now: Instant) async throws

    /// Records the session's position at the backend: `.unknown` before every ack call, the vector after its 2xx.
    ///
    /// Creates the session if it is new, and writes nothing if the position is recorded already. `.unknown` also
    /// applies to the principal's other sessions, since they may be the same one at the backend.
    func setPosition(_ position: Position, principal: Principal, session: Session, at now: Instant) async throws

    /// Confirms a cursor as ``confirm(principal:cursor:at:)`` does, if there is one, and then records the position.
    func setPosition(
        _ position: Position, principal: Principal, session: Session, confirming cursor: Cursor?, at now: Instant
    ) async throws

    /// Raises the session's generation and forgets its position, before a reset is acknowledged.
    ///
    /// - Returns: The new generation.
    func raiseGeneration(principal: Principal, session: Session, at now: Instant) async throws -> Int

    /// Stores a finished pull, before the first byte of its answer.
    ///
    /// Deletes the principal's receipts, and drops the oldest unconfirmed replicas over the limit with their cursors.
    ///
    /// - Returns: How many first syncs there were in a row that no device has come back from, if this is one.
    /// - Throws: ``StateError/cursorTaken(newest:)``, ``StateError/generationChanged(current:)``,
    ///   ``StateError/replicaUnknown(_:)``, ``StateError/replicaForked(_:)``, ``StateError/ledgerChanged`` or
    ///   ``StateError/idsChanged``; the documentation of each states what the caller should do.
    @discardableResult
    func commit(_ pull: PullCommit) async throws -> FirstSyncs.Row?

    /// Records a replica's last action, the same action at most once per touch interval; an unknown replica is not an
    /// error.
    func touch(replica: ReplicaID, result: String, at now: Instant) async throws

    /// Records that the backend has accepted the session's credential, at most once per accepted interval.
    func markAccepted(principal: Principal, session: Session, at now: Instant) async throws

    /// Returns the answer to this very push, if it was given a moment ago and no pull has been answered since (finding
    /// 18).
    func receipt(principal: Principal, digest: String, at now: Instant) async throws -> Receipt?

    /// Keeps the answer of a push, before its 2xx goes out.
    ///
    /// - Parameters:
    ///   - receipt: The answer.
    ///   - notes: The notes that are written in the same transaction, as ``LedgerStore/note(_:principal:at:)`` does.
    ///   - principal: The principal that pushed.
    ///   - digest: The digest of cursor and body, hexadecimal.
    ///   - now: The time.
    ///   - expiresAt: The time at which the receipt expires, at most `[push] receipt_window` from now.
    /// - Throws: ``StateError/tooLarge(_:)`` for a body over the limit: answer without a receipt.
    func saveReceipt(
        _ receipt: Receipt, with notes: [PushNote], principal: Principal, digest: String, at now: Instant,
        expiresAt: Instant
    ) async throws

    /// Deletes the principal's receipts, for a pull that is answered without a commit; writes nothing if there are
    /// none.
    func dropReceipts(principal: Principal) async throws

    /// Raises the recorded schema version of a replica's pushes.
    ///
    /// Writes nothing if the version is not higher than the recorded one.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - replica: The replica that pushed; nil for the principal's only one. If it has several, nothing is recorded.
    ///   - principal: The principal that pushed; the replica of another principal is ignored.
    /// - Returns: True if the version was raised.
    /// - Throws: ``StateError``.
    func notePushed(version: Int, replica: ReplicaID?, principal: Principal) async throws -> Bool

    /// Returns the lines in quarantine, the most recent first, at most 10,000.
    func quarantined(limit: Int) async throws -> [QuarantineEntry]

    /// Returns the numbers of lines in the quarantine.
    func quarantineCounts() async throws -> QuarantineCounts

    /// Returns replicas, all or one principal's, in the order of their numbers, beginning with the one that follows
    /// `after`.
    func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow]

    /// The limits on what the store keeps and how often it writes.
    var limits: StateLimits { get }

    /// The lead of cursors over the clock in milliseconds: 0 unless the operator has accepted a clock that was behind
    /// the state.
    var cursorLead: Int64 { get }

    /// Returns the greatest cursor ever handed out to any principal; the clock, with ``cursorLead``, must be past it
    /// (finding 10).
    func newestCursor() async throws -> Cursor?

    /// Distrusts what devices have got so far, because a backup was restored behind their backs.
    ///
    /// Cursors of before are compared with everything that the backend has (``StoredPullContext/distrustedAt``). The
    /// sessions' generations are raised, so that no pull that runs meanwhile is committed, and their positions
    /// forgotten (finding 4; `docs/STATE.md`).
    ///
    /// - Parameters:
    ///   - restored: What was restored.
    ///   - principal: The principal, with all its scopes; nil for all.
    ///   - now: The present time; cursors that were handed out later are trusted.
    /// - Returns: The number of principals, one for each scope.
    /// - Throws: ``StateError``; some scopes of a principal may be changed then: run it again.
    func distrust(because restored: RestoredBackup, of principal: Principal?, at now: Instant) async throws -> Int

    /// Deletes what is no longer needed, in several transactions of bounded size; may be cancelled between them.
    func collect(_ retention: Retention) async throws -> Collected

    /// Stores what was deferred (``DeferredChange``), about once a second; what cannot be stored stays deferred.
    func storeDeferred() async throws

    /// Checks that the state can be read and written, in a transaction for each.
    ///
    /// - Parameter thoroughly: True to read every page too, which takes seconds per gigabyte.
    /// - Throws: ``StateError``.
    func check(thoroughly: Bool) async throws

    /// Checks that the state can be written now, by writing to it.
    ///
    /// Tries at most once a second and never twice at the same time: callers in between get the last result.
    ///
    /// - Parameter limit: The longest time to wait for the result.
    /// - Throws: ``StateError``: ``StateError/slow`` if the limit has passed.
    func checkWriting(within limit: Duration) async throws

    /// Finishes running calls and releases the state; every later call throws ``StateError/closed``.
    func close() async
}

extension StateStore {
    /// Writes twice: a state in this process or beside it has no use for one write.
    package func setPosition(
        _ position: Position, principal: Principal, session: Session, confirming cursor: Cursor?, at now: Instant
    ) async throws {
        if let cursor { try await confirm(principal: principal, cursor: cursor, at: now) }
        try await setPosition(position, principal: principal, session: session, at: now)
    }
}

extension StateStore {
    /// Saves a receipt alone.
    package func saveReceipt(
        _ receipt: Receipt, principal: Principal, digest: String, at now: Instant, expiresAt: Instant
    ) async throws {
        try await saveReceipt(receipt, with: [], principal: principal, digest: digest, at: now, expiresAt: expiresAt)
    }
}
