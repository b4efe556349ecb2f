// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The data that a finished pull writes, in one transaction, before the first byte of its answer.
package struct PullCommit: Hashable, Sendable {
    /// The kind of the row's replica: new or existing.
    package enum Replica: Hashable, Sendable {
        /// A first sync, an unknown cursor or a fork.
        case new
        /// The replica of the presented cursor.
        case existing
    }

    /// The new cursor with its row.
    ///
    /// If the principal has got id mappings after those of `ids`, the commit is refused.
    package var row: CursorRow
    /// The kind of the row's replica: new or existing.
    package var replica: Replica
    /// The lines that could not be delivered.
    package var quarantined: [QuarantinedLine]
    /// The replica's last action, a short phrase for the operator.
    package var result: String
    /// The present time.
    package var now: Instant
    /// The changes to the ledger of the replica.
    package var ledger: LedgerCommit
    /// The ledger that the pull builds on, with its version; if it was changed meanwhile or is gone, the commit is
    /// refused.
    ///
    /// It is that of the pull's own replica, or of another one from which a new one starts.
    package var ledgersRead: [ReplicaID: Int]
    /// The replica's pending redeliveries that the answer brings; they are done when the cursor comes back.
    package var delivered: [PendingRedelivery]
    /// The vector that the backend holds for the row's session, if the state is to know it; nil leaves the position as
    /// it is.
    package var position: CheckpointVector?
    /// The time at which the backend accepted the session's credential, if the state is to know it; nil leaves the time
    /// as it is.
    package var acceptedAt: Instant?
    /// True if the client has presented no cursor: such pulls are counted until a device comes back.
    package var isFirstSync = false
    /// The schema version that the client has stated, for the operator; the row has the version of the client's data.
    package var clientVersion: Int?

    /// Creates a commit.
    package init(
        row: CursorRow, replica: Replica, quarantined: [QuarantinedLine] = [], result: String = "pull",
        now: Instant, ledger: LedgerCommit = .none,
        ledgersRead: [ReplicaID: Int] = [:], delivered: [PendingRedelivery] = [], position: CheckpointVector? = nil,
        acceptedAt: Instant? = nil, clientVersion: Int? = nil
    ) {
        self.position = position
        self.acceptedAt = acceptedAt
        self.delivered = delivered
        self.row = row
        self.replica = replica
        self.quarantined = quarantined
        self.result = result
        self.now = now
        self.ledger = ledger
        self.ledgersRead = ledgersRead
        self.clientVersion = clientVersion ?? row.schemaVersion
    }
}

/// The changes that a finished pull makes to the ledger of its replica.
///
/// The first layer of a replica becomes its base. Later layers lie over the parent's layers. If those were not exact
/// (``LedgerOutline/isExact``), the cursor counts as exact from here on, because such a pull has compared everything.
package enum LedgerCommit: Hashable, Sendable {
    /// The pull was made without a ledger: the records at its cursor are not known exactly.
    case none
    /// A layer of these chunks, in the order of their tables and hashes; if there are none, the parent's layers stay
    /// valid.
    case chunks([LedgerChunk], counts: [String: LedgerCount])
    /// The layer that was staged, with its counts.
    case staged(LayerID, counts: [String: LedgerCount])
}

/// The results of a compaction so far: the base's chunks that are replaced, what replaces them, and what undoes it.
package struct LedgerMerge: Hashable, Sendable {
    /// The replica whose ledger was compacted.
    package var replica: ReplicaID
    /// The base that was read.
    package var base: LayerID
    /// The cursor up to which everything will be in the base; its delta and those before it go with the last step.
    package var upTo: Cursor
    /// The number of its staged rows, from the first of them on; no other merge or layer has it.
    var number: Int64 = 0
    /// The number of its steps so far, without the last.
    var steps = 0
    /// The version of the ledger that it was begun from; after the last step, the new one.
    package var version: Int
    /// The numbers of the base's chunks that go.
    var removed: Set<Int64> = []
    /// The chunks that come.
    var added: [ChunkHead] = []
    /// The base's former entries, by the cursors whose deltas have replaced them.
    var undos: [Cursor: LedgerLayer] = [:]
    /// The changes of the base's figures.
    var counts: [String: LedgerCount] = [:]

    /// Creates a merge without changes of the ledger that an outline shows; nil if it has no base.
    package init?(of outline: LedgerOutline, upTo cursor: Cursor) {
        guard let base = outline.base?.id else { return nil }
        (replica, self.base, upTo, version) = (outline.replica, base, cursor, outline.version)
    }
}
