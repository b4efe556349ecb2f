// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import SyncModel

/// Holds digests of the table mappings for clients of one schema version.
struct MappingDigests: Sendable {
    /// The digest of all tables.
    let all: String
    /// The digest of each table, by its name.
    let tables: [String: String]

    init(_ schema: Schema, at schemaVersion: Int, _ digests: KeyedDigest) {
        let texts = schema.tables(at: schemaVersion).map { table in
            (table.name, Array(Configuration.mappingDescription(of: table, at: schemaVersion).utf8))
        }
        all = digests.digits(.mapping, texts.map(\.1))
        tables = Dictionary(
            uniqueKeysWithValues: texts.map { ($0, String(digests.digits(.mapping, [$1]).prefix(16))) })
    }
}
