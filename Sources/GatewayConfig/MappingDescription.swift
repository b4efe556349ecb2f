// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension Configuration {
    /// Describes how a table's lines become records of clients of a schema version, as text that is the same for the
    /// same meaning.
    ///
    /// A digest of it shows whether a client's copy was made under another mapping. Parts of later versions are left
    /// out, and so are the versions since which parts exist: a new column for new clients changes nothing for old ones.
    /// Calls and other settings that only pushes use are left out, too. Names are length-prefixed, so that no two
    /// mappings have the same text.
    ///
    /// - Precondition: Clients of the version have the table.
    package static func mappingDescription(of table: Table, at schemaVersion: Int) -> String {
        let types = table.upsertTypes(at: schemaVersion)
        // The number rises if values are read otherwise without a change of the configuration.
        var lines = ["table \(quoted(table.name)) values 2"]
        for (index, feed) in table.feeds.enumerated() {
            guard let version = feed.version(at: schemaVersion) else { continue }
            lines.append("feed \(index) \(quoted(version.requestType))")
        }
        for type in types {
            let id = (table.idRule(for: type)?.paths ?? [Path(name: "id")]).map(text).joined()
            lines.append("upsert \(quoted(type)) of \(table.feed(of: type)) id\(id)")
        }
        // A delete type whose feed came later is never received.
        for rule in table.deletes where isAsked(table.feed(of: rule.type), of: table, at: schemaVersion) {
            let start = "delete \(quoted(rule.type)) of \(table.feed(of: rule.type))"
            switch rule.target {
            case .by(let paths, let all):
                lines.append("\(start) by\(paths.map(text).joined())\(all ? " all" : "")")
            case .whereColumn(let column, let path):
                lines.append("\(start) where \(quoted(column)) =\(text(path))")
            }
        }
        lines += table.columns(at: schemaVersion).map { describe($0, types) }
        lines += ledgerDescription(of: table, types)
        return lines.joined(separator: "\n")
    }

    /// Describes the entries of the table's ledger, which are the same for clients of all versions.
    ///
    /// If the columns of links or the order of several feeds change, the entries lose that information, and only a
    /// comparison restores it. A ledger that has just been turned on has no records of what clients hold.
    private static func ledgerDescription(of table: Table, _ types: [String]) -> [String] {
        guard table.isLedgered else { return ["ledger off"] }
        var lines = table.parents.map { "parent \(quoted($0.column)) \(quoted($0.table))" }
        lines += table.links.map { "link " + describe(table.columns[$0.column], types) }
        if table.feeds.count > 1 {
            lines.append("sources" + table.feeds.map { " " + quoted($0.versions.first?.requestType ?? "") }.joined())
        }
        return lines
    }

    private static func isAsked(_ feed: Int, of table: Table, at schemaVersion: Int) -> Bool {
        !table.feeds.indices.contains(feed) || table.feeds[feed].version(at: schemaVersion) != nil
    }

    /// Describes a column, as far as lines of these types fill it.
    private static func describe(_ column: Column, _ types: [String]) -> String {
        let sources = column.sources.compactMap { source -> String? in
            switch source {
            case .path(let path, let only):
                let named = types.filter(only.contains)
                if named.isEmpty, !only.isEmpty { return nil }
                let limits = named.count < types.count ? named.map { " " + quoted($0) }.joined() : ""
                return "path\(text(path)) in\(limits)"
            case .lineType: return "@type"
            case .literal(let literal): return literal.described
            }
        }
        return
            "column \(quoted(column.name)) \(column.type.rawValue)\(column.isOptional ? "?" : "")\(column.spelling) from "
            + sources.joined(separator: " | ")
    }

    private static func text(_ path: Path) -> String {
        path.steps.map { step in
            switch step {
            case .name(let name): " .\(quoted(name))"
            case .index(let index): " [\(index)]"
            }
        }.joined()
    }
}

private func quoted(_ text: String) -> String { "\(text.utf8.count):\(text)" }

extension Column {
    /// The attributes that decide how the column's values are read.
    fileprivate var spelling: String {
        var parts: [String] = []
        if isStrict { parts.append("strict") }
        if timestampFormat == .seconds { parts.append("seconds") }
        if let zone { parts.append("zone \(quoted(zone.name))") }
        if isDecimal { parts.append("decimal") }
        if nestsJSON { parts.append("json") }
        if let words { parts.append("true \(words.yes.described) false \(words.no.described)") }
        if let fallback { parts.append("default \(fallback.described)") }
        return parts.map { " " + $0 }.joined()
    }
}

extension Column.Literal {
    fileprivate var described: String {
        switch self {
        case .string(let text): "string \(quoted(text))"
        case .number(let number): "number \(number)"
        case .boolean(let value): "boolean \(value)"
        }
    }
}
