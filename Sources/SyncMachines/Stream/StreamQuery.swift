// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The query of a stream, and the rules of the backend.
struct StreamQuery: Sendable {
    private let query: PullQuery
    private let settings: PullSettings
    /// True if the stream is only searched for changes.
    ///
    /// Then the checkpoints that the backend has written by itself are not needed, and a backend that takes none of the
    /// types has no changes of them.
    let isCheck: Bool

    /// Creates the query of a pull or a check.
    init(_ query: PullQuery, _ settings: PullSettings, isCheck: Bool) {
        self.query = query
        self.settings = settings
        self.isCheck = isCheck
    }

    /// The request types.
    var requestTypes: [String] { query.requestTypes }
    /// True if the backend keeps the checkpoints.
    var isPositioned: Bool { settings.style == .server }
    /// True if another gateway may still move the checkpoints while the stream runs.
    var distrustsPosition: Bool { isPositioned && query.distrustsPosition }
    /// The number of times that a broken stream is resumed.
    var resumeAttempts: Int { settings.resumeAttempts }
    /// The pause before the first of these, doubled each time, in milliseconds.
    var resumeBackoff: Int64 { settings.resumeBackoff }

    /// Returns true if the backend streams all rows of a namespace from this vector, and may write checkpoints of its
    /// own meanwhile.
    func lacksUpsertNamespace(_ vector: CheckpointVector) -> Bool {
        query.upsertNamespaces.contains { vector[$0] == nil }
    }

    /// Returns true if the backend may write a checkpoint of this namespace by itself while it streams from a vector.
    func mayWrite(_ namespace: String, streamingFrom vector: CheckpointVector) -> Bool {
        lacksUpsertNamespace(vector) && query.upsertNamespaces.contains(namespace)
    }

    /// Returns the upsert namespaces that come with these request types and with no others.
    func namespaces(ofOnly types: Set<String>) -> Set<String> {
        var (with, without) = (Set<String>(), Set<String>())
        for table in query.schema.tables(at: query.effectiveVersion) {
            for name in table.upsertTypes(at: query.effectiveVersion) {
                let requested = table.feeds[table.feed(of: name)].version(at: query.effectiveVersion)?.requestType
                if requested.map(types.contains) ?? false { with.insert(name) } else { without.insert(name) }
            }
        }
        return with.subtracting(without)
    }
}
