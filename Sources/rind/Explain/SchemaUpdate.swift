// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel

/// The effects of the first pull of an app that was updated from one schema version to another.
///
/// The negotiator decides what the gateway does about the schema. The types that are streamed from their beginning
/// are those whose namespaces have no checkpoint yet, or lose theirs.
struct SchemaUpdate {
    /// The gateway's decision about the two versions; the raw value is the stable word.
    enum Answer: String {
        /// It fetches what was added.
        case migrate
        /// It does nothing for the sake of the schema.
        case nothing
        /// It answers with an error.
        case refuse
    }

    /// An error that the gateway would answer with.
    struct Refusal: Equatable {
        var status: Int
        var code: String
        /// The result for the app, or the reason.
        var message: String
        /// The advice.
        var hint: String
    }

    /// The version that the device's data are of.
    let from: Int
    /// The version that the app has now.
    let to: Int
    let schema: Schema
    /// The version whose tables, columns and request types the app gets.
    let version: Int
    let answer: Answer
    let refusal: Refusal?
    /// The version that is remembered as that of the device's data; nil where the pull fails.
    let recorded: Int?
    /// The tables that the app has, in the order of the configuration; empty where the pull fails.
    let tables: [TableUpdate]
    /// The types that the backend is asked for, in the order of the configuration.
    let types: [TypeUpdate]
    /// The types that the backend is no longer asked for.
    let left: [String]
    /// The counts from which the numbers of records are estimated.
    let counts: RecordCounts?

    init(from: Int, to: Int, schema: Schema, counts: RecordCounts? = nil) {
        let query = SchemaNegotiator.Query(last: from, stated: to)
        let decision = SchemaNegotiator(schema).decide(query)
        (self.from, self.to, self.schema, self.counts) = (from, to, schema, counts)
        version = min(to, schema.version)
        refusal = Self.refusal(decision.outcome, from: from, to: to, schema)
        guard refusal == nil else {
            answer = .refuse
            (recorded, tables, types, left) = (nil, [], [], [])
            return
        }
        answer = decision.change == nil ? .nothing : .migrate
        recorded = decision.recorded
        let course = StreamCourse(
            from: min(from, schema.version), to: version, affected: decision.change?.affected ?? [], schema: schema)
        let gained = schema.change(from: from, to: version)
        tables = schema.tables(at: version).map { table in
            TableUpdate(table, decision: decision, gained: gained, course: course, records: counts?[table])
        }
        types = course.types
        left = course.left
    }

    /// The tables with a type that is streamed from its beginning.
    var restarted: [TableUpdate] { tables.filter { !$0.restarted.isEmpty } }

    /// Those that came with the versions between, whether or not they are fetched for it.
    var isGaining: Bool { tables.contains { $0.gain != .nothing } }

    /// Refuses an app that is too old, before its version is compared with anything.
    private static func refusal(
        _ outcome: SchemaNegotiator.Outcome, from: Int, to: Int, _ schema: Schema
    ) -> Refusal? {
        if to < schema.oldest {
            return Refusal(
                status: 426, code: "schema.too_old",
                message: "Schema version \(to) is below \(schema.oldest), the oldest that is served.",
                hint: "Users update the app. To serve it all the same, set [schema] oldest to \(to): the tables and "
                    + "columns of that version must stand in the configuration.")
        }
        guard case .refuse(let refusal) = outcome else { return nil }
        let hint =
            switch refusal {
            case .wentBack:
                "WatermelonDB begins anew, with a first sync, where an older build finds a newer database; so the app "
                    + "probably sends a wrong number. Let it send the 'schemaVersion' that 'pullChanges' is given."
            case .migrationsEnabledLater(let enabled, let client):
                "Apps of version \(client) are served, so their later syncs must not fail: set [schema] "
                    + "migrations_enabled_at to \(client) or less, or oldest to \(enabled)."
            }
        return Refusal(status: 400, code: refusal.code, message: refusal.message, hint: hint)
    }
}
