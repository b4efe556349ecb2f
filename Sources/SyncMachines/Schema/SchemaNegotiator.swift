// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Decides what a client lacks because its schema has changed since it last synced.
///
/// Terms: *LPA* last pulled at, *MEA* migrationsEnabledAtVersion, *LS* the schema version of the presented cursor's
/// row, *CV* the client's schema version now. The table is that of the genuine client (`getMigrationInfo`), seen from
/// here: most apps send no migration, so it is computed for them, and what a client sends itself is added.
package struct SchemaNegotiator: Hashable, Sendable {
    /// The facts at the beginning of a pull.
    package struct Query: Hashable, Sendable {
        /// True if `lastPulledAt` (LPA) is null.
        package var isFirst: Bool
        /// LS; nil where the row has none.
        package var last: Int?
        /// CV as the client tells it; nil where it does not.
        package var stated: Int?
        /// CV as the client's pushes show it, for one that does not tell.
        package var inferred: Int?
        /// The migration that the client asks for.
        package var requested: Migration?
        /// Creates a query; without arguments that of a client that reports nothing.
        package init(
            isFirst: Bool = false, last: Int? = nil, stated: Int? = nil, inferred: Int? = nil,
            requested: Migration? = nil
        ) {
            self.isFirst = isFirst
            self.last = last
            self.stated = stated
            self.inferred = inferred
            self.requested = requested
        }
    }

    /// The decision of a pull about the schema.
    package enum Outcome: Hashable, Sendable {
        /// No step is needed.
        case nothing
        /// Fetch what was added, in the same answer as everything else.
        case migrate(SchemaChange)
        /// Answer with an error.
        case refuse(SchemaRefusal)
    }

    /// An outcome and what becomes of LS.
    package struct Decision: Hashable, Sendable {
        /// The decision.
        package var outcome: Outcome
        /// The client's version (CV), up to the newest configured one, reported or inferred from pushes; nil if it is
        /// unknown.
        package var current: Int?
        /// The LS of the new cursor's row: CV where the table says "yes", else the parent row's.
        package var recorded: Int?
        /// Tables and columns that the client asks for and the configuration does not have, as `table` and
        /// `table.column`; for the log.
        package var unknown: [String] = []

        /// The additions; nil if nothing is to be fetched for them.
        package var change: SchemaChange? {
            if case .migrate(let change) = outcome { return change }
            return nil
        }
    }

    private let schema: Schema

    /// Creates a negotiator of this schema.
    package init(_ schema: Schema) { self.schema = schema }

    /// MEA: as configured, else the oldest version; nil where migrations are switched off (0).
    private var enabledAt: Int? { schema.migrationsEnabledAt == 0 ? nil : schema.migrationsEnabledAt ?? schema.oldest }

    /// Decides.
    package func decide(_ query: Query) -> Decision {
        // A client that is newer than the configuration gets the newest version that is known.
        let current = (query.stated ?? query.inferred).map { min($0, schema.version) }
        guard !query.isFirst else { return Decision(outcome: .nothing, current: current, recorded: current) }
        var decision = negotiate(query, current)
        decision.current = current
        if let requested = query.requested { merge(requested, current ?? schema.version, into: &decision) }
        return decision
    }

    private func negotiate(_ query: Query, _ current: Int?) -> Decision {
        // After the configuration has gone back to an older version, later pulls bring no more than that has.
        let unchanged = Decision(outcome: .nothing, recorded: query.last.map { min($0, schema.version) })
        guard let enabledAt, let current else { return unchanged }
        if let stated = query.stated {
            if let last = query.last, last > stated { return unchanged.refused(.wentBack(from: last, to: stated)) }
            if enabledAt > stated { return unchanged.refused(.migrationsEnabledLater(at: enabledAt, client: stated)) }
        }
        // Where LS is unknown, MEA stands in for it.
        let from = query.last ?? enabledAt
        guard from < current else {
            // What pushes show of a client that tells nothing is remembered: later versions are counted from there.
            let recorded = query.stated == nil && query.last == nil ? current : unchanged.recorded
            return Decision(outcome: .nothing, recorded: recorded)
        }
        var change = schema.change(from: from, to: current)
        if query.last != nil { change.empty = change.tables }
        if from < schema.oldest {
            // What came before the oldest version the configuration need not tell, so all is fetched again. A client
            // would give up here.
            change = SchemaChange(from: from, to: current, tables: Set(schema.tables(at: current).map(\.name)))
        }
        return Decision(outcome: change.isEmpty ? .nothing : .migrate(change), recorded: current)
    }

    /// Adds what the client itself asks for, as far as the configuration has it.
    ///
    /// What it asks for beyond what was computed it may have all the same, where it was told to ask from a version on
    /// that it had long reached.
    private func merge(_ requested: Migration, _ version: Int, into decision: inout Decision) {
        var change = SchemaChange(from: requested.from, to: version)
        switch decision.outcome {
        case .migrate(let computed): change = computed
        case .nothing: break
        case .refuse: return
        }
        let tables = Dictionary(uniqueKeysWithValues: schema.tables(at: version).map { ($0.name, $0) })
        for name in requested.tables {
            if tables[name] == nil { decision.unknown.append(name) } else { change.tables.insert(name) }
        }
        for added in requested.columns {
            let known = Set(tables[added.table]?.columns(at: version).map(\.name) ?? [])
            for column in added.columns {
                if known.contains(column) {
                    change.columns[added.table, default: []].insert(column)
                } else {
                    decision.unknown.append("\(added.table).\(column)")
                }
            }
        }
        for table in change.tables { change.columns[table] = nil }
        if !change.isEmpty { decision.outcome = .migrate(change) }
    }
}

extension SchemaNegotiator.Decision {
    fileprivate func refused(_ refusal: SchemaRefusal) -> Self { Self(outcome: .refuse(refusal), recorded: recorded) }
}
