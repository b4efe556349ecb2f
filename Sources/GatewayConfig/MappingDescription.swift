// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension Configuration {
    /// What decides how a table's lines become records, as text that is the same for the same meaning.
    ///
    /// A digest of it tells whether a client's copy was made under another mapping. Calls and other things that only
    /// pushes use are left out: to change them changes nothing that a client has. Names are length-prefixed, so that
    /// no two mappings have the same text.
    package static func mappingDescription(of table: Table) -> String {
        var lines = ["table \(quoted(table.name)) since \(table.since)"]
        for feed in table.feeds {
            lines.append("feed" + feed.versions.map { " \(quoted($0.requestType)) since \($0.since)" }.joined())
        }
        lines += table.upserts.map { "upsert \(quoted($0))" }
        for rule in table.deletes {
            switch rule.target {
            case .by(let paths, let all):
                lines.append("delete \(quoted(rule.type)) by\(paths.map(text).joined())\(all ? " all" : "")")
            case .whereColumn(let column, let path):
                lines.append("delete \(quoted(rule.type)) where \(quoted(column)) =\(text(path))")
            }
        }
        for rule in table.ids {
            lines.append("id\(rule.paths.map(text).joined()) in\(rule.types.map { " " + quoted($0) }.joined())")
        }
        lines += table.parents.map { "parent \(quoted($0.column)) \(quoted($0.table))" }
        lines += table.columns.map(describe)
        // A ledger that is only just kept knows nothing of what clients have.
        if !table.isLedgered { lines.append("ledger off") }
        return lines.joined(separator: "\n")
    }

    private static func describe(_ column: Column) -> String {
        let sources = column.sources.map { source in
            switch source {
            case .path(let path, let types): "path\(text(path)) in\(types.map { " " + quoted($0) }.joined())"
            case .lineType: "@type"
            case .literal(.string(let text)): "string \(quoted(text))"
            case .literal(.number(let number)): "number \(number)"
            case .literal(.boolean(let value)): "boolean \(value)"
            }
        }
        return "column \(quoted(column.name)) \(column.type.rawValue)\(column.isOptional ? "?" : "") "
            + "since \(column.since) from " + sources.joined(separator: " | ")
    }

    private static func text(_ path: Path) -> String {
        path.steps.map { step in
            switch step {
            case .name(let name): " .\(quoted(name))"
            case .index(let index): " [\(index)]"
            }
        }.joined()
    }

    private static func quoted(_ text: String) -> String { "\(text.utf8.count):\(text)" }
}
