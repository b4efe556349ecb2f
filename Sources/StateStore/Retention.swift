// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The times before which a collection deletes each kind of data.
package struct Retention: Hashable, Sendable {
    /// The present time; receipts that expired before it are deleted.
    package var now: Instant
    /// Replicas, sessions and principals last seen before this are deleted with all their cursors (`max_offline`); at
    /// most one replica in twenty, but at least one, per hour.
    package var seenBefore: Instant
    /// Cursors made before this are deleted if a later one of the same replica is confirmed; a device that comes back
    /// with such a cursor (a restored backup) is then unknown.
    package var supersededBefore: Instant
    /// Undo layers that lead back behind cursors made before this are deleted (`rewind`).
    ///
    /// A device that comes back with an older cursor is served by full stream and diff. Layers of cursors that never
    /// came back are deleted too, and push notes that no cursor needs.
    package var undoBefore: Instant
    /// Layers that no commit has named are deleted if they were staged before this, and so are layers that have been
    /// unused since before it.
    package var stagedBefore: Instant
    /// Journals of failed or interrupted pushes are deleted if their last change was before this; open ones stay until
    /// ``seenBefore``.
    ///
    /// Refusals are deleted likewise.
    package var journalsBefore: Instant
    /// The time that this process has run since its last collection, in milliseconds; nil in its first one.
    ///
    /// If the clock has advanced by a different amount, data last seen before the difference arose are kept longer by
    /// it.
    package var ran: Int64?

    /// The lead of cursors over the clock in milliseconds.
    package var cursorLead: Int64 = 0
    /// Cursors below this one are deleted if a later, confirmed one replaces them.
    var supersededCursorsBefore: Int64 { (supersededBefore + cursorLead).milliseconds }
    /// Undo layers for cursors below this one are deleted.
    var undoCursorsBefore: Int64 { undoBefore > 0 ? (undoBefore + cursorLead).milliseconds : 0 }

    /// Creates a retention; without `supersededBefore` both times are the same, without `undoBefore` all undo layers
    /// are kept.
    ///
    /// Staged layers have an hour to be named by a commit; journals are kept for 30 days.
    package init(now: Instant, seenBefore: Instant, supersededBefore: Instant? = nil, undoBefore: Instant = 0) {
        self.now = now
        self.seenBefore = seenBefore
        self.supersededBefore = supersededBefore ?? seenBefore
        self.undoBefore = undoBefore
        stagedBefore = now - 3_600_000
        journalsBefore = now - 30 * 86_400_000
    }
}

/// The numbers of items that a collection deleted.
package struct Collected: Hashable, Sendable {
    /// The number of expired receipts.
    package var receipts = 0
    /// The number of cursors that a later one replaces.
    package var cursors = 0
    /// The number of replicas unseen for too long.
    package var replicas = 0
    /// The number of sessions unseen for too long and needed by no cursor.
    package var sessions = 0
    /// The number of principals without any remaining data.
    package var principals = 0
    /// The number of undo layers.
    package var undos = 0
    /// The number of layers of cursors that never came back.
    package var siblings = 0
    /// The number of chunks in layers that are no longer used.
    package var chunks = 0
    /// The number of push notes.
    package var notes = 0
    /// The number of push journals.
    package var journals = 0
    /// The number of principals of which something cannot be read that keeps them from being collected.
    package var damaged = 0
    /// The damage of the first of them, in words.
    package var firstDamage: String?
    /// The time that the clock has leapt since the previous collection, in milliseconds; negative if it went back.
    package var leapt: Int64 = 0

    /// Creates an empty count.
    package init() {}

    /// Notes that something of a principal cannot be read.
    package mutating func note(_ damage: StateError, of principal: Principal) {
        damaged += 1
        firstDamage = firstDamage ?? "principal \(principal): \(damage)"
    }

    /// True if nothing was deleted.
    package var isEmpty: Bool { self == Collected() }
}
