// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Reads the small languages of `[table NAME]`, except calls.
enum TableParser {
    static let deleteWords: Set<String> = ["by", "where", "all"]
    static let idWords: Set<String> = ["in"]

    /// Reads each part of a comma list with `parse`, and reports the mistakes of all of them.
    static func list<Item>(
        _ value: SourceText, _ what: String, problems: inout Problems,
        parse: (SourceText) throws(Mistake) -> Item
    ) -> [Item]? {
        let parts = value.split()
        guard !parts.isEmpty else {
            problems.error("expected \(what), found nothing", at: value.span)
            return nil
        }
        guard parts.count <= ValueFormat<String>.maximumItems else {
            problems.error(
                "expected at most \(ValueFormat<String>.maximumItems) parts, found \(parts.count)", at: value.span)
            return nil
        }
        var items: [Item] = []
        var isWhole = true
        for part in parts {
            do throws(Mistake) {
                guard !part.isEmpty else { throw Mistake("expected \(what) between the commas", at: part.span) }
                items.append(try parse(part))
            } catch {
                problems.report(error)
                isWhole = false
            }
        }
        return isWhole ? items : nil
    }

    /// Reads `Wire ["since" N] *("then" Wire "since" N)`.
    static func feed(_ text: SourceText) throws(Mistake) -> TableDraft.Feed {
        var reader = TokenReader(text)
        var feed = TableDraft.Feed(versions: [])
        repeat {
            let type = try reader.wireType("a request type")
            var version = TableDraft.Feed.Version(type: type)
            if reader.take("since") {
                version.since = try reader.schemaVersion()
            } else if !feed.versions.isEmpty {
                throw reader.expected(
                    "'since N' after '\(type.value)'",
                    hint: "say from which schema version on it is asked for: 'then \(type.value) since 2'")
            }
            if let last = feed.versions.last, let since = version.since {
                guard since.value > last.since?.value ?? 0 else {
                    throw Mistake(
                        "since \(since.value) does not rise: '\(last.type.value)' has since \(last.since?.value ?? 0)",
                        at: since.span, hint: "list the versions from the oldest to the newest")
                }
            }
            feed.versions.append(version)
        } while reader.take("then")
        try reader.finish(expecting: "'since', 'then' or a comma")
        return feed
    }

    /// Reads `Wire`.
    static func upsert(_ text: SourceText) throws(Mistake) -> Located<String> {
        var reader = TokenReader(text)
        let type = try reader.wireType("a line type")
        try reader.finish(expecting: "a comma between the types")
        return type
    }

    /// Reads `Wire "by" path+ ["all"]` or `Wire "where" column "=" path`.
    static func delete(_ text: SourceText) throws(Mistake) -> TableDraft.Delete {
        var reader = TokenReader(text, separators: ["="])
        let type = try reader.wireType("a line type")
        if reader.take("where") {
            let column = try reader.name("a column after 'where'")
            guard reader.take(separator: "=") else { throw reader.expected("'=' after the column") }
            let path = try reader.path(stoppingAt: deleteWords)
            try reader.finish(expecting: "nothing more")
            return .init(
                type: type, target: .whereColumn(column.value, equals: path.value), column: column, pathSpan: path.span)
        }
        guard reader.take("by") else {
            let word = reader.peek()?.text.string ?? ""
            throw reader.expected(
                "'by' or 'where' after '\(type.value)'",
                hint: NearestName.hint(for: word, among: ["by", "where"])
                    ?? "'by PATH' names the id, 'where COLUMN = PATH' any other column")
        }
        let paths = try reader.paths(stoppingAt: deleteWords)
        let all = reader.take("all")
        try reader.finish(expecting: "a path, 'all' or a comma")
        return .init(
            type: type, target: .by(paths.map(\.value), all: all), column: nil, pathSpan: paths[0].span)
    }

    /// Reads `path+ ["in" Wire+]`.
    static func id(_ text: SourceText) throws(Mistake) -> TableDraft.ID {
        var reader = TokenReader(text)
        let paths = try reader.paths(stoppingAt: idWords)
        let types = reader.take("in") ? try reader.wireTypes(stoppingAt: idWords) : []
        try reader.finish(expecting: "a path, 'in' or a comma")
        return .init(paths: paths, types: types)
    }

    /// Reads `column table`.
    static func parent(_ text: SourceText) throws(Mistake) -> TableDraft.Parent {
        var reader = TokenReader(text)
        let column = try reader.name("a column")
        let table = try reader.name("the table that '\(column.value)' is an id of")
        try reader.finish(expecting: "a comma")
        return .init(column: column, table: table)
    }

    /// Reads `column+`.
    static func match(_ text: SourceText) throws(Mistake) -> [Located<String>] {
        var reader = TokenReader(text)
        var columns = [try reader.name("a column")]
        while reader.peek() != nil { columns.append(try reader.name("a column")) }
        return columns
    }
}
