// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Limits how much a store keeps and how often it writes.
package struct StateLimits: Hashable, Sendable {
    /// The number of different lines that the quarantine keeps; those that came longest ago are dropped first.
    package var quarantineEntries = 10_000
    /// The number of bytes kept of a quarantined line.
    package var quarantineBytes = 16_384
    /// The largest checkpoint vector, in bytes as stored: the tokens, the namespaces and a few bytes for each.
    package var vectorBytes = 1 << 20
    /// The largest size of a cursor's comparison states, in bytes as stored.
    package var comparisonBytes = 1 << 20
    /// The largest size of a ledger chunk in bytes.
    package var chunkBytes = 1 << 20
    /// The largest size of a chunk, in bytes, that is kept with its replica instead of under a number of its own.
    package var inlineBytes = 100
    /// The size of a replica's head, in bytes, above which cursors move out of it into pages of about this size.
    package var headBytes = 1_900
    /// The most chunks of a layer that a head names; those of larger layers are named by directories.
    package var headChunks = 16
    /// The most chunks or directories that a directory names: it is about as large as a chunk.
    package var directoryChunks = 64
    /// The largest body of a receipt in bytes.
    package var receiptBytes = 1 << 16
    /// The number of a principal's replicas that may be without a confirmed cursor in any case (finding 27).
    package var unconfirmedReplicas = 8
    /// The number of those that may be without one for ``startingTime``.
    package var startingReplicas = 64
    /// The bytes that the ledgers of these may take together.
    package var startingBytes = 8 << 20
    /// The time, in milliseconds, for which a replica without a confirmed cursor may be that of a device that has just
    /// started: some sync once a day.
    package var startingTime: Int64 = 2 * 86_400_000
    /// The number of receipts for one principal; the oldest are dropped first.
    package var receiptsPerPrincipal = 64
    /// The number of journals of failed or interrupted pushes for one principal; the oldest are dropped first.
    package var journalsPerPrincipal = 16
    /// The number of records with refused operations for one principal; the oldest are dropped first.
    package var refusalsPerPrincipal = 64
    /// The number of push notes that one principal keeps when its next push begins; the oldest are dropped first.
    ///
    /// This exceeds the number that is laid over a ledger; otherwise a cursor from before the dropped notes would look
    /// as if it lacked none.
    package var notesPerPrincipal = 60_000
    /// The least age of "last seen", in milliseconds, at which it is written again.
    package var touchInterval: Int64 = 60_000
    /// The least age of "accepted at", in milliseconds, at which it is written again: it keeps a session whose pulls
    /// bring nothing, and each time costs a durable transaction.
    package var acceptedInterval: Int64 = 3_600_000
    /// The most rows that one transaction of a collection deletes, so that it never delays a pull for long, or that a
    /// command lists at a time.
    package var collectBatch = 500
    /// The number of principals that a collection looks through, or a share of all of them if that is more.
    package var collectPrincipals = 2_000
    /// The bytes of heads and single rows that are kept in memory.
    package var keptBytes = 64 << 20
    /// The bytes of chunks that are kept in memory.
    package var keptChunkBytes = 32 << 20

    /// Creates the default limits.
    package init() {}

    /// Returns true if the moment at which a session was last accepted is due to be written again.
    ///
    /// A moment in the far future is due, too: the clock has gone back, and the session would never become old.
    package func isAcceptanceDue(_ now: Instant, after last: Instant) -> Bool {
        isDue(now, after: last, acceptedInterval) || isDue(last, after: now, acceptedInterval)
    }
}

/// Checks a text that becomes a key: 1 to 256 bytes without NUL; C interfaces would silently cut it at a NUL.
///
/// - Throws: ``StateError/invalid(_:)`` with the noun.
package func key(_ text: String, _ noun: String) throws(StateError) -> String {
    guard (1...256).contains(text.utf8.count), !text.utf8.contains(0) else { throw .invalid(noun) }
    return text
}

/// Makes a text for the operator storable: without NUL, and cut to about `limit` bytes.
package func remark(_ text: String, limit: Int = 255) -> String {
    let cut = text.utf8.count > limit ? String(decoding: text.utf8.prefix(limit), as: UTF8.self) : text
    return cut.utf8.contains(0) ? String(cut.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : Character($0) }) : cut
}

/// Returns true if a time that is written at most once per interval is due to be written again; false if the clock went
/// back.
package func isDue(_ now: Instant, after last: Instant, _ interval: Int64) -> Bool {
    now > last && now.milliseconds(since: last) >= interval
}
