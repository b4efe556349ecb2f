// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncMachines
import SyncModel

/// Caches the part of a pull's query that depends on the client's schema version alone.
///
/// It has at most as many entries as the schema has versions.
final class QueryCache: Sendable {
    private let schema: Schema
    private let mappings: MappingCache
    private let made = NIOLockedValueBox<[Int: PullQuery]>([:])

    init(schema: Schema, mappings: MappingCache) {
        self.schema = schema
        self.mappings = mappings
    }

    /// Returns the query of a client of a version that changes something (``Schema/versions``), without its caller,
    /// cursor and replica.
    func query(at schemaVersion: Int) -> PullQuery {
        made.withLockedValue { made in
            if let query = made[schemaVersion] { return query }
            let digests = mappings.digests(at: schemaVersion)
            let query = PullQuery(
                principal: Principal(rawValue: ""), session: Session(rawValue: ""), presented: nil, schemaVersion: nil,
                schema: schema, effectiveVersion: schemaVersion, mappingDigest: digests.all,
                tableDigests: digests.tables, newReplica: ReplicaID(rawValue: 0))
            made[schemaVersion] = query
            return query
        }
    }
}
