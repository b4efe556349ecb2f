// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// What is streamed, and by which rules of the backend.
struct StreamQuery: Sendable {
    private let query: PullQuery
    private let settings: PullSettings
    /// Whether it is only asked what has changed.
    ///
    /// Then nobody needs the checkpoints that the backend has written by itself, and a backend that takes none of the
    /// types has nothing to say of them.
    let isCheck: Bool

    /// What a pull streams, or a check.
    init(_ query: PullQuery, _ settings: PullSettings, isCheck: Bool) {
        self.query = query
        self.settings = settings
        self.isCheck = isCheck
    }

    /// The request types.
    var requestTypes: [String] { query.requestTypes }
    /// Whether the backend keeps the checkpoints.
    var isPositioned: Bool { settings.style == .server }
    /// How often a broken stream is taken up again.
    var resumeAttempts: Int { settings.resumeAttempts }
    /// The pause before the first of these, doubled each time, in milliseconds.
    var resumeBackoff: Int64 { settings.resumeBackoff }

    /// Whether the backend streams all rows of a namespace from this vector, and may write checkpoints of its own
    /// meanwhile.
    func lacksUpsertNamespace(_ vector: CheckpointVector) -> Bool {
        query.upsertNamespaces.contains { vector[$0] == nil }
    }

    /// The upsert namespaces that come with these request types and with no others.
    func namespaces(ofOnly types: Set<String>) -> Set<String> {
        var (with, without) = (Set<String>(), Set<String>())
        for table in query.schema.tables(at: query.effectiveVersion) {
            for name in table.upsertTypes(at: query.effectiveVersion) {
                let requested = table.feeds[table.source(of: name)].version(at: query.effectiveVersion)?.requestType
                if requested.map(types.contains) ?? false { with.insert(name) } else { without.insert(name) }
            }
        }
        return with.subtracting(without)
    }
}
