// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The one memory of the gateway: who has got how far.
///
/// Each method is one transaction of the list in `docs/STATE.md` and durable when it returns. They throw
/// ``StateError``, and then nothing has changed. Reads throw `CancellationError` when the task is cancelled; writes are
/// finished whatever becomes of the caller, because a client that hangs up must not undo what its backend has accepted.
/// Times are milliseconds since 1970, from the caller's clock.
package protocol StateStore: LedgerStore, PushQuarantineStore, RefusalStore, JournalStore, IDMapStore {
    /// All that is known when a pull or push begins.
    ///
    /// - Parameters:
    ///   - principal: Who is calling.
    ///   - session: The backend session of the call.
    ///   - presented: The cursor that the client sent; nil for a first sync.
    /// - Returns: One consistent look at all of it.
    /// - Throws: ``StateError``.
    func pullContext(principal: Principal, session: Session, presented: Cursor?) async throws -> PullContext

    /// Notes that the cursor came back, so that all up to its vector is on the device.
    ///
    /// The cursor becomes the tip of its replica if it was made from the tip, or is the replica's first. One without
    /// which the replica has gone on stays unconfirmed: it begins a replica of its own (``PullContext/isFork``).
    ///
    /// Writes nothing if it was confirmed before and its replica was seen within the touch interval.
    ///
    /// - Throws: ``StateError/cursorUnknown(_:)`` if it has been collected since: treat it as unknown.
    func confirm(principal: Principal, cursor: Cursor, at now: Int64) async throws

    /// Notes what the backend holds: `.unknown` before every ack call, the vector after its 2xx.
    ///
    /// Creates the session where it is new, and writes nothing if the position is noted already. `.unknown` is that of
    /// the principal's other sessions, too, since they may be the same one at the backend.
    func setPosition(_ position: Position, principal: Principal, session: Session, at now: Int64) async throws

    /// Raises the session's generation and forgets its position, before a reset is acknowledged.
    ///
    /// - Returns: The new generation.
    func raiseGeneration(principal: Principal, session: Session, at now: Int64) async throws -> Int

    /// Stores a finished pull, before the first byte of its answer.
    ///
    /// Ends the principal's receipts, and drops the oldest unconfirmed replicas over the limit with their cursors.
    ///
    /// - Throws: ``StateError/cursorTaken(newest:)``, ``StateError/generationChanged(current:)``,
    ///   ``StateError/replicaUnknown(_:)``, ``StateError/replicaForked(_:)``, ``StateError/ledgerChanged`` or
    ///   ``StateError/idsChanged``, each saying what the caller should do.
    func commit(_ pull: PullCommit) async throws

    /// Notes what a replica last did, the same thing at most once in the touch interval; an unknown replica is no
    /// error.
    func touch(replica: ReplicaID, result: String, at now: Int64) async throws

    /// Notes that the backend has accepted the session's credential, at most once in the accepted interval.
    func markAccepted(principal: Principal, session: Session, at now: Int64) async throws

    /// The answer to this very push, if it was given a moment ago and no pull has been answered since (finding 18).
    func receipt(principal: Principal, digest: String, at now: Int64) async throws -> Receipt?

    /// Keeps the answer of a push, before its 2xx goes out.
    ///
    /// - Parameters:
    ///   - receipt: The answer.
    ///   - principal: Who pushed.
    ///   - digest: The digest of cursor and body, hexadecimal.
    ///   - now: The time.
    ///   - expiresAt: When it ends, at most `[push] receipt_window` from now.
    /// - Throws: ``StateError/tooLarge(_:)`` for a body over the limit: answer without a receipt.
    func saveReceipt(
        _ receipt: Receipt, principal: Principal, digest: String, at now: Int64, expiresAt: Int64
    ) async throws

    /// Ends the principal's receipts, for a pull that is answered without a commit; writes nothing if there are none.
    func dropReceipts(principal: Principal) async throws

    /// Notes of which schema version a replica's pushes are; what is noted only rises.
    ///
    /// Writes nothing where it does not rise.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - replica: Whose; nil is the principal's only one: where it has several, nobody can tell, and nothing is
    ///     noted.
    ///   - principal: Who pushed; another one's replica is none.
    /// - Returns: Whether it has risen.
    /// - Throws: ``StateError``.
    func notePushed(version: Int, replica: ReplicaID?, principal: Principal) async throws -> Bool

    /// What sits in quarantine, the line that came last first, at most 10,000.
    func quarantined(limit: Int) async throws -> [QuarantineEntry]

    /// How full the quarantine is.
    func quarantineCounts() async throws -> QuarantineCounts

    /// Replicas, all or one principal's, in the order of their numbers, from the one after `after` on.
    func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow]

    /// How far cursors run ahead of the clock, in milliseconds: 0 but where the operator has accepted a clock that was
    /// behind the state.
    var cursorLead: Int64 { get }

    /// The greatest cursor ever handed out to anybody; the clock, with ``cursorLead``, must be past it (finding 10).
    func newestCursor() async throws -> Cursor?

    /// Raises the generation of every session and forgets every position.
    ///
    /// For a restored state: what its cursors say about the backend may have been overtaken by resets that it does
    /// not know, so every device gets a full stream at its next pull (finding 4; `docs/STATE.md`).
    ///
    /// - Returns: How many sessions there are.
    func raiseAllGenerations() async throws -> Int

    /// Deletes what nobody needs any more, in transactions of bounded size; may be cancelled between them.
    func collect(_ retention: Retention) async throws -> Collected

    /// Whether the state can be read and written.
    ///
    /// - Parameter thoroughly: Also reads every page, which takes seconds for each gigabyte.
    /// - Throws: ``StateError``.
    func check(thoroughly: Bool) async throws

    /// Whether the state can be written now, by writing to it.
    ///
    /// Tries at most once a second and never twice at the same time: in between, everybody gets the last result.
    ///
    /// - Parameter limit: How long to wait for the result.
    /// - Throws: ``StateError``: ``StateError/slow`` where the limit is over.
    func checkWriting(within limit: Duration) async throws

    /// Finishes what is running and gives the state free; everything after it throws ``StateError/closed``.
    func close() async
}
