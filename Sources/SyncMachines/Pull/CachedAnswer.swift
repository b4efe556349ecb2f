// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Describes what an earlier pull has streamed whose answer may have been lost.
///
/// It is nothing but a part of a stream that has come already. A pull that would stream the same goes on from its end,
/// compares all lines with what its own client holds, and gets a cursor, a layer of the ledger and, on a first pull, a
/// replica of its own (finding 8).
package struct CachedAnswer: Hashable, Sendable {
    /// Where the stream began.
    package var start: CheckpointVector
    /// Where it has got to.
    package var end: CheckpointVector
    /// The request types of which all records came.
    package var whole: Set<String>
    /// The session under which it was streamed.
    package var session: Session
    /// That session's generation.
    package var generation: Int
    /// What was fetched for a new schema version.
    package var change: SchemaChange?
    /// By which ids its lines call records to which the backend has given ids.
    package var ids: VisibleIDs

    /// A stream from `start` to `end`.
    package init(
        from start: CheckpointVector, to end: CheckpointVector, whole: Set<String>, session: Session, generation: Int,
        change: SchemaChange? = nil, ids: VisibleIDs = VisibleIDs()
    ) {
        self.start = start
        self.end = end
        self.whole = whole
        self.session = session
        self.generation = generation
        self.change = change
        self.ids = ids
    }
}

extension CachedAnswer {
    /// Whether it began where another stream begins, and means the same.
    func continues(_ beginning: CachedAnswer) -> Bool {
        var other = beginning
        other.end = end
        return self == other
    }
}
