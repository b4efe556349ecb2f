// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// A request type in the stream of an updated app.
struct TypeUpdate: Equatable {
    var name: String
    /// True if the version before did not ask for the type.
    var isNew: Bool
    /// The types that it replaces.
    var replaced: [String]
    /// True if a line type that it brings is streamed from its beginning.
    var isFromBeginning: Bool
}

/// The types whose stream goes on, and those whose stream begins anew, when an app changes its schema version.
///
/// A line type has no checkpoint if the version before did not ask for it, and loses its checkpoint if a table that it
/// fills is fetched again.
struct StreamCourse {
    let from: Int
    let to: Int
    let schema: Schema
    /// The line types that are streamed from their beginnings.
    private let restarted: Set<String>

    init(from: Int, to: Int, affected: Set<String>, schema: Schema) {
        (self.from, self.to, self.schema) = (from, to, schema)
        let before = Set(schema.tables(at: from).flatMap { $0.upsertTypes(at: from) })
        restarted = Set(
            schema.tables(at: to).flatMap { table in
                table.upsertTypes(at: to).filter { affected.contains(table.name) || !before.contains($0) }
            })
    }

    /// The requested types, in the order of the configuration.
    var types: [TypeUpdate] {
        let before = Set(schema.requestTypes(at: from))
        let parts = schema.tables(at: to).flatMap(parts)
        return schema.requestTypes(at: to).map { name in
            let own = parts.filter { $0.type == name }
            let replaced = own.compactMap(\.replaced)
            return TypeUpdate(
                name: name, isNew: !before.contains(name),
                replaced: replaced.enumerated().filter { !replaced[..<$0.offset].contains($0.element) }.map(\.element),
                isFromBeginning: own.contains(where: \.isRestarted))
        }
    }

    /// The types that are no longer requested.
    var left: [String] {
        let after = Set(schema.requestTypes(at: to))
        return schema.requestTypes(at: from).filter { !after.contains($0) }
    }

    /// A feed of a table as the updated app has it.
    struct Part {
        var type: String
        var replaced: String?
        var isRestarted: Bool
    }

    /// Returns the feeds of a table.
    func parts(of table: Table) -> [Part] {
        let lines = table.upsertTypes(at: to)
        return table.feeds.enumerated().compactMap { source, feed in
            guard let type = feed.version(at: to)?.requestType else { return nil }
            let before = table.since <= from ? feed.version(at: from)?.requestType : nil
            return Part(
                type: type, replaced: before == type ? nil : before,
                isRestarted: lines.contains { table.feed(of: $0) == source && restarted.contains($0) })
        }
    }
}
