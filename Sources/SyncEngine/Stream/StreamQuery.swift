// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// What is streamed, and by which rules of the backend.
package struct StreamQuery: Hashable, Sendable {
    /// The request types.
    package var requestTypes: [String]
    /// The upsert namespaces that come with them.
    ///
    /// If a vector lacks one, the backend streams all of its rows, and may write checkpoints of its own meanwhile.
    package var upsertNamespaces: [String]
    /// The request types with which the lines of an upsert namespace come, for all namespaces that the client has.
    package var typesOfNamespace: [String: Set<String>]
    /// Who keeps the checkpoints.
    package var style: PullSettings.CheckpointStyle
    /// How often a broken stream is taken up again.
    package var resumeAttempts: Int
    /// The pause before the first of these, doubled each time, in milliseconds.
    package var resumeBackoff: Int64
    /// Whether the vector takes over, at the end, the checkpoints that the backend has written by itself.
    package var takesSelfWritten = true

    /// The upsert namespaces that come with these request types and with no others.
    func namespaces(ofOnly types: Set<String>) -> Set<String> {
        Set(typesOfNamespace.filter { $0.value.isSubset(of: types) }.keys)
    }

    /// Whether the backend streams all rows of a namespace from this vector.
    func lacksUpsertNamespace(_ vector: CheckpointVector) -> Bool {
        upsertNamespaces.contains { vector[$0] == nil }
    }
}

extension PullQuery {
    /// What a pull streams, or what one only asks that wants to know what has changed: the latter writes nothing down.
    func stream(_ settings: PullSettings, takesSelfWritten: Bool) -> StreamQuery {
        var types: [String: Set<String>] = [:]
        for table in schema.tables(at: effectiveVersion) {
            for name in table.upsertTypes(at: effectiveVersion) {
                guard let version = table.feeds[table.source(of: name)].version(at: effectiveVersion) else { continue }
                types[name, default: []].insert(version.requestType)
            }
        }
        return StreamQuery(
            requestTypes: requestTypes, upsertNamespaces: upsertNamespaces, typesOfNamespace: types,
            style: settings.style, resumeAttempts: settings.resumeAttempts, resumeBackoff: settings.resumeBackoff,
            takesSelfWritten: takesSelfWritten)
    }
}
