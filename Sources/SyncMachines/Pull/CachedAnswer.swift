// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Describes what an earlier pull has streamed whose answer may have been lost.
///
/// It is nothing but a part of a stream that has come already. A pull that would stream the same goes on from its end,
/// compares all lines with what its own client holds, and gets a cursor, a layer of the ledger and, on a first pull, a
/// replica of its own (finding 8).
package struct CachedAnswer: Hashable, Sendable {
    /// The vector at which the stream began.
    package var start: CheckpointVector
    /// The vector at which the stream ended.
    package var end: CheckpointVector
    /// The request types that came completely.
    package var whole: Set<String>
    /// The session under which it was streamed.
    package var session: Session
    /// The session's generation.
    package var generation: Int
    /// The schema change for which tables and columns were fetched.
    package var change: SchemaChange?
    /// The id that its lines use for each record that has a backend-assigned id.
    package var ids: VisibleIDs

    /// Creates a stream from `start` to `end`.
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
    /// Returns true if it began where another stream begins, and was requested under the same conditions.
    func continues(_ beginning: CachedAnswer) -> Bool {
        var other = beginning
        other.end = end
        return self == other
    }
}
