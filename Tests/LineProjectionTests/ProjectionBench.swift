// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel

/// Lines go in, results and written text come out.
struct ProjectionBench {
    static let key = SipHash.Key(1, 2)

    var projector: LineProjector
    var writer = JSONWriter()

    init(_ tables: Table..., version: Int = 1, rules: EnvelopeRules = EnvelopeRules()) {
        let schema = Schema(version: version, tables: tables)
        projector = LineProjector(Projection(schema: schema, schemaVersion: version, rules: rules), key: Self.key)
    }

    /// The result of one line and what was written for it.
    mutating func project(_ line: [UInt8]) -> (result: LineResult, text: String) {
        let start = writer.count
        let result = line.withUnsafeBytes { projector.project($0, into: &writer) }
        return (result, String(decoding: writer.bytes[start...], as: UTF8.self))
    }

    mutating func project(_ line: String) -> (result: LineResult, text: String) { project(Array(line.utf8)) }

    /// What a line writes.
    mutating func text(_ line: String) -> String { project(line).text }

    /// What a line turns out to be.
    mutating func result(_ line: String) -> LineResult { project(line).result }
}

extension LineResult {
    /// Why a line was quarantined; nil where it was not.
    var reason: QuarantinedLine.Reason? { if case .quarantined(let reason, _) = self { reason } else { nil } }

    /// Which records a quarantined line may have carried; nil where it was not quarantined.
    var scope: QuarantineScope? { if case .quarantined(_, let scope) = self { scope } else { nil } }
}

extension Column {
    /// A column as the configuration would have it.
    static func make(
        _ name: String, _ type: ColumnType, optional: Bool = false, since: Int = 0, _ sources: Source...
    ) -> Column {
        var column = Column(name: name, type: type, sources: sources.isEmpty ? nil : sources)
        column.isOptional = optional
        column.since = since
        return column
    }
}

extension Column.Source {
    /// A path written with dots; steps of digits are indices.
    static func at(_ path: String, in types: String...) -> Column.Source { .path(Path(dotted: path), types: types) }
}

extension Path {
    init(dotted text: String) {
        self.init(text.split(separator: ".").map { step in Int(step).map { .index($0) } ?? .name(String(step)) })
    }
}

extension Table {
    /// A table with one feed.
    static func make(_ name: String, upsert: String..., columns: [Column]) -> Table {
        var table = Table(name: name)
        table.feeds = [Feed(versions: [.init(requestType: name)])]
        table.upserts = upsert
        table.ids = [IDRule(paths: [Path(name: "id")])]
        table.columns = columns
        return table
    }

    func with(ids: [IDRule] = [], deletes: [DeleteRule] = [], since: Int = 0) -> Table {
        var table = self
        if !ids.isEmpty { table.ids = ids }
        table.deletes = deletes
        table.since = since
        return table
    }
}
