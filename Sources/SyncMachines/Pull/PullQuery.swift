// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import SyncModel

/// One pull as the machine needs to know it: who asks, from where on, and what the schema makes of it.
package struct PullQuery: Hashable, Sendable {
    /// The caller's principal.
    package var principal: Principal
    /// Under which session of the backend.
    package var session: Session
    /// The cursor that the client sent; nil on a first pull and for a number that is no possible cursor.
    package var presented: Cursor?
    /// True if the client has nothing yet.
    package var isFirst: Bool
    /// The client's schema version, nil where it did not say.
    package var schemaVersion: Int?
    /// The migration that the client asks for.
    package var requested: Migration?
    /// The configured tables.
    package var schema: Schema
    /// The version whose tables and columns the client gets.
    package var effectiveVersion: Int
    /// The request types of the stream.
    package var requestTypes: [String]
    /// The upsert namespaces that belong to these.
    package var upsertNamespaces: [String]
    /// Namespaces of the configuration that this request does not ask for; they leave the vector (finding 25).
    package var retiredNamespaces: Set<String>
    /// All namespaces of what is requested; after a change of the configuration only these stay in a vector.
    package var requestedNamespaces: Set<String>
    /// A digest of the table mappings.
    package var mappingDigest: String
    /// The request types that fill tables with a ledger.
    package var ledgered: [String: LedgeredType]
    /// True if a table of the client has no ledger.
    package var hasUnledgered: Bool
    /// True if the backend gives ids to pushed records, so that a pull may bring a record without the id of its client.
    package var awaitsIDs: Bool
    /// The number of times that the pull has started over.
    package var startOvers: Int
    /// The id of the replica, should a new one begin with this pull.
    package var newReplica: ReplicaID
    /// True if another gateway may still move the backend's checkpoints, although it has lost its lease (finding 7).
    package var distrustsPosition = false
    /// The stream of an earlier pull with the same cursor, or also without one, and with the same schema.
    package var cached: CachedAnswer?

    /// Creates a query against a schema, as a client of `effectiveVersion` sees it.
    package init(
        principal: Principal, session: Session, presented: Cursor?, isFirst: Bool? = nil, schemaVersion: Int?,
        requested: Migration? = nil, schema: Schema, effectiveVersion: Int, mappingDigest: String,
        tableDigests: [String: String] = [:], newReplica: ReplicaID, cached: CachedAnswer? = nil,
        startOvers: Int = 0
    ) {
        self.principal = principal
        self.session = session
        self.presented = presented
        self.isFirst = isFirst ?? (presented == nil)
        self.schemaVersion = schemaVersion
        self.requested = requested
        self.schema = schema
        self.effectiveVersion = effectiveVersion
        self.mappingDigest = mappingDigest
        self.newReplica = newReplica
        self.cached = cached
        self.startOvers = startOvers
        awaitsIDs = schema.tables.contains { $0.hasOwnIDs }
        let tables = schema.tables(at: effectiveVersion)
        requestTypes = schema.requestTypes(at: effectiveVersion)
        upsertNamespaces = tables.flatMap { $0.upsertTypes(at: effectiveVersion) }
        let requested = Set(tables.flatMap { $0.namespaces(at: effectiveVersion) })
        requestedNamespaces = requested
        ledgered = LedgeredType.all(in: tables, at: effectiveVersion, digests: tableDigests)
        hasUnledgered = tables.contains { !$0.isLedgered }
        retiredNamespaces = Set(schema.tables.flatMap { $0.upserts + $0.deletes.map(\.type) }).subtracting(requested)
    }

    /// Returns the query as a check of these tables: only the types that fill them are requested.
    package func checking(_ names: Set<String>) -> PullQuery {
        var query = self
        let tables = schema.tables(at: effectiveVersion)
        let types = Set(
            tables.filter { names.contains($0.name) }
                .flatMap { $0.feeds.compactMap { $0.version(at: effectiveVersion)?.requestType } })
        query.cached = nil
        query.requestTypes = requestTypes.filter(types.contains)
        // A request type may fill other tables, too.
        query.upsertNamespaces = tables.flatMap { table in
            table.upsertTypes(at: effectiveVersion).filter { type in
                let requested = table.feeds[table.feed(of: type)].version(at: effectiveVersion)?.requestType
                return requested.map(types.contains) ?? false
            }
        }
        return query
    }

    /// Returns the client's tables that one of these request types fills.
    package func tables(filledBy types: Set<String>) -> [String] {
        schema.tables(at: effectiveVersion).filter { table in
            table.feeds.contains { feed in
                feed.version(at: effectiveVersion).map { types.contains($0.requestType) } ?? false
            }
        }.map(\.name)
    }

    /// Returns the upsert namespaces of these tables; without their tokens the backend streams every row that is there.
    func upsertNamespaces(of tables: Set<String>) -> Set<String> {
        Set(
            schema.tables(at: effectiveVersion).filter { tables.contains($0.name) }
                .flatMap { $0.upsertTypes(at: effectiveVersion) })
    }
}
