// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps bytes under keys, and knows nothing of what they mean.
///
/// If a method throws ``StateError``, nothing has changed, except perhaps with ``StateError/outcomeUnknown``. Some reads
/// throw `CancellationError` if the task is cancelled; writes are finished.
package protocol ByteStore: Sendable {
    /// Reads rows, all as of one moment.
    ///
    /// - Returns: The rows of each lookup, in the order of the lookups.
    func load(_ lookups: [Lookup]) async throws -> [[ByteRow]]

    /// Returns chunks by their numbers; nil for those that are not there.
    func chunks(_ numbers: [Int64]) async throws -> [[UInt8]?]

    /// Returns numbers for rows of a kind, in order, that were never given before; those that are not used are lost.
    func reserve(_ kind: RowKind, count: Int) async throws -> [Int64]

    /// Returns the rows of a table in the order of their keys, beginning with the one after a key; rows of chunks have
    /// the chunk's number as their key and number.
    func page(of table: ByteTableName, after key: RowKey?, limit: Int) async throws -> [ByteRow]

    /// The location without secrets, for the operator.
    var location: String { get }

    /// Returns a number that rises when another process has changed the rows; nil if only reading tells.
    ///
    /// - Throws: ``StateError`` if the store cannot be used any more.
    func foreignChanges() async throws -> Int64?

    /// True if changes that wait while others are committed are best committed together.
    var commitsInGroups: Bool { get }

    /// Makes changes, each all or nothing, in their order.
    ///
    /// - Returns: For each of them its outcome.
    /// - Throws: ``StateError`` if the store has failed; then none of them was made.
    func commit(_ group: [RowChanges]) async throws -> [CommitOutcome]

    /// Checks that the bytes can be read and written, in a transaction for each; of a file thoroughly that every page
    /// can, which takes seconds per gigabyte.
    func check(thoroughly: Bool) async throws

    /// Checks that bytes can be written now, by writing: at most once a second, and never twice at the same time.
    ///
    /// - Throws: ``StateError``: ``StateError/slow`` if the limit has passed.
    func checkWriting(within limit: Duration) async throws

    /// Finishes running calls and releases the store; every later call throws ``StateError/closed``.
    func close() async
}

extension ByteStore {
    /// Reads the rows of one lookup.
    package func rows(_ lookup: Lookup) async throws -> [ByteRow] { try await load([lookup])[0] }
}

/// Keeps the leases of principals that several gateways share.
package protocol LeaseKeeping: Sendable {
    /// Takes a lease, unless another holder has it, and reads rows as ``ByteStore/load(_:)`` does: one transaction and
    /// one round trip.
    ///
    /// If another holder has not given the lease back, the row `key` is deleted first.
    func take(
        _ request: LeaseRequest, of principal: Principal, deleting key: RowKey, loading lookups: [Lookup]
    ) async throws -> (answer: LeaseAnswer, rows: [[ByteRow]])

    /// Lets a lease that is held last for this many milliseconds from now on.
    func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws

    /// Gives a lease back; one that is not held is not an error.
    func giveBack(_ lease: Lease) async throws
}

/// The outcome of changes that reached the store.
package enum CommitOutcome: Hashable, Sendable {
    /// They were made.
    case made
    /// Another row was there than they expected.
    case refused
    /// Their lease has passed to another gateway.
    case leaseLost
}
