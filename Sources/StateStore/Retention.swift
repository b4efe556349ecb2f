// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a collection may take away.
package struct Retention: Hashable, Sendable {
    /// The time in milliseconds since 1970; receipts that ended before it go.
    package var now: Int64
    /// Replicas, sessions and principals that were last seen before this go, with all their cursors (`max_offline`); of
    /// the replicas one in twenty, or a single one, in an hour.
    package var seenBefore: Int64
    /// Cursors made before this go if a later one of the same replica is confirmed; a device that comes back with
    /// such a cursor (a restored backup) is then unknown.
    package var supersededBefore: Int64
    /// What leads back behind cursors made before this goes (`rewind`), in milliseconds since 1970.
    ///
    /// A device that comes back with an older one is served by full stream and difference. Layers of cursors that never
    /// came back go, too, and notes of pushes that no cursor needs.
    package var undoBefore: Int64
    /// Layers that no commit has named go if they were staged before this, and so do those that are in use no more.
    package var stagedBefore: Int64
    /// Journals of pushes that came to no good end go if nothing was written of them since; ones that are still open
    /// stay until ``seenBefore``.
    package var journalsBefore: Int64
    /// How long this process has run since its last collection, in milliseconds; nil in its first one.
    ///
    /// Where the clock says something else, what was seen before that is kept for as much longer.
    package var ran: Int64?

    /// How far cursors run ahead of the clock.
    package var cursorLead: Int64 = 0
    /// Cursors below are collected where a later, confirmed one stands in for them.
    package var supersededCursorsBefore: Int64 { supersededBefore + cursorLead }
    /// The ways back to cursors below are collected.
    package var undoCursorsBefore: Int64 { undoBefore > 0 ? undoBefore + cursorLead : 0 }

    /// A retention; without `supersededBefore` both times are the same, without `undoBefore` every way back is kept.
    ///
    /// What was staged has an hour to be named by a commit; journals are kept for 30 days.
    package init(now: Int64, seenBefore: Int64, supersededBefore: Int64? = nil, undoBefore: Int64 = 0) {
        self.now = now
        self.seenBefore = seenBefore
        self.supersededBefore = supersededBefore ?? seenBefore
        self.undoBefore = undoBefore
        stagedBefore = now - 3_600_000
        journalsBefore = now - 30 * 86_400_000
    }
}

/// How much a collection took away.
package struct Collected: Hashable, Sendable {
    /// Receipts whose time was over.
    package var receipts = 0
    /// Cursors that a later one stands in for.
    package var cursors = 0
    /// Replicas that nobody had seen for long.
    package var replicas = 0
    /// Sessions that nobody had seen for long and no cursor needs.
    package var sessions = 0
    /// Principals of whom nothing was left.
    package var principals = 0
    /// Layers that led back behind a cursor.
    package var undos = 0
    /// Layers of cursors that never came back.
    package var siblings = 0
    /// Chunks of layers that nobody uses any more.
    package var chunks = 0
    /// Notes of pushes.
    package var notes = 0
    /// Journals of pushes.
    package var journals = 0
    /// By how much the clock has leapt since the collection before, in milliseconds; negative where it went back.
    package var leapt: Int64 = 0

    /// Nothing.
    package init() {}

    /// Whether nothing was taken away.
    package var isEmpty: Bool { self == Collected() }
}
