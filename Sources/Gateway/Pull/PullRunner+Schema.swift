// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import SyncEngine
import SyncModel

// What the client's schema version means for a pull, and what becomes of request types that the backend has given up.
extension PullRunner {
    /// Takes over what was negotiated, before something is streamed; the operator hears of it once a pull.
    mutating func begin(_ decision: SchemaNegotiator.Decision, without refused: Set<String>) {
        refusedTypes = refused
        guard negotiation == nil else { return }
        negotiation = decision
        figures.dropped += decision.unknown.count
        if !decision.unknown.isEmpty {
            logger.warning(
                "the client asks for tables and columns that the configuration does not have",
                metadata: [
                    "code": "schema.unknown_names", "count": "\(decision.unknown.count)",
                    "names": "\(decision.unknown.prefix(20).map { $0.prefix(64) }.joined(separator: " "))",
                ])
        }
        guard let change = decision.change else { return }
        let columns = change.columns.flatMap { table, names in names.map { "\(table).\($0)" } }
        figures.migration = "\(change.from) to \(change.to)"
        logger.info(
            "the client has a new schema version: what was added is fetched",
            metadata: [
                "from": "\(change.from)", "to": "\(change.to)",
                "tables": "\(change.tables.sorted().joined(separator: " "))",
                "columns": "\(columns.sorted().joined(separator: " "))",
            ])
    }

    /// The client's tables of which something was not asked for.
    var refusedTables: [String] {
        projection.schema.tables(at: projection.schemaVersion).filter { table in
            table.feeds.contains { feed in
                feed.version(at: projection.schemaVersion).map { refusedTypes.contains($0.requestType) } ?? false
            }
        }.map(\.name)
    }

    /// Says what the backend does not take, once it takes the rest: until then it is a guess.
    mutating func tellRefused() {
        guard refusedTypes != toldRefused else { return }
        toldRefused = refusedTypes
        logger.error(
            "the backend does not take some request types any more; their tables get nothing, the others go on",
            metadata: [
                "code": "backend.types", "types": "\(refusedTypes.sorted().joined(separator: " "))",
                "tables": "\(refusedTables.joined(separator: " "))",
                "hint": "change 'request' in the configuration, with 'then … since N' for clients of other versions",
            ])
    }
}
