// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import SyncModel

/// Writes what a client gets back when all went well, around records that are sent from a spool.
///
/// The pieces of a pull answer in their order: ``opening``, then for each table ``tableOpening(_:isFirst:)``, the
/// created records, ``updatedOpening``, the updated ones, ``deletedOpening``, the deleted ids, ``tableClosing``, and
/// at last ``closing(cursor:strategy:)``. Between records stands ``separator``. Each table has all three lists: a
/// client that misses one fails before it applies anything (protocol rule 4).
package struct AnswerWriter: Sendable {
    /// What a client is to do with the records that it has and the answer doesn't name.
    package enum Strategy: Hashable, Sendable {
        /// Keep them.
        case incremental
        /// Drop them, but for ones that it never pushed. Understood since 0.25 and only by apps that hand the whole
        /// answer on; others keep them (protocol rule 6).
        case replacement
        /// Drop them in these tables, and keep them in all others.
        case replacementOf([String])

        /// Whether what the answer does not name of a table is dropped, so that deletions need not be named.
        package func replaces(_ table: String) -> Bool {
            switch self {
            case .incremental: false
            case .replacement: true
            case .replacementOf(let tables): tables.contains(table)
            }
        }
    }

    /// The type of every answer that isn't an error.
    package static let contentType = "application/json; charset=utf-8"
    /// What stands between two records, and between two deleted ids.
    package static let separator = Array(",".utf8)
    /// What stands between a table's created and updated records.
    package static let updatedOpening = Array(#"],"updated":["#.utf8)
    /// What stands between a table's updated records and its deleted ids.
    package static let deletedOpening = Array(#"],"deleted":["#.utf8)
    /// What follows a table's deleted ids.
    package static let tableClosing = Array("]}".utf8)

    private let dialect: WireDialect

    /// A writer of a dialect.
    package init(dialect: WireDialect) { self.dialect = dialect }

    /// What a pull answer begins with, up to its first table.
    package var opening: [UInt8] {
        var writer = JSONWriter()
        appendWrapOpening(to: &writer)
        writer.append(raw: #"{"changes":{"#)
        return writer.bytes
    }

    /// What stands before a table's created records.
    package func tableOpening(_ name: String, isFirst: Bool) -> [UInt8] {
        var writer = JSONWriter()
        if !isFirst { writer.append(raw: ",") }
        writer.append(name: name)
        writer.append(raw: #"{"created":["#)
        return writer.bytes
    }

    /// What a pull answer ends with: the cursor under its configured name, and the strategy unless it is the usual one.
    package func closing(cursor: Cursor, strategy: Strategy = .incremental) -> [UInt8] {
        var writer = JSONWriter()
        writer.append(raw: "},")
        writer.append(name: dialect.timestampName)
        writer.append(cursor.rawValue)
        append(strategy, to: &writer)
        writer.append(raw: "}")
        appendWrapClosing(to: &writer)
        return writer.bytes
    }

    /// The whole answer to a push that was taken.
    ///
    /// It is `{}` unless something was rejected: records that the backend will never take. Those are understood since
    /// 0.24 and only by apps that hand the answer on; others count them as synced (protocol rule 6).
    package func pushAnswer(rejected: [RecordList] = []) -> [UInt8] {
        var writer = JSONWriter()
        appendWrapOpening(to: &writer)
        writer.append(raw: "{")
        if !rejected.isEmpty {
            writer.append(raw: #""experimentalRejectedIds":"#)
            RecordList.append(rejected, to: &writer)
        }
        writer.append(raw: "}")
        appendWrapClosing(to: &writer)
        return writer.bytes
    }

    private func append(_ strategy: Strategy, to writer: inout JSONWriter) {
        switch strategy {
        case .incremental: break
        case .replacement: writer.append(raw: #","experimentalStrategy":"replacement""#)
        case .replacementOf(let tables):
            writer.append(raw: #","experimentalStrategy":{"default":"incremental","override":{"#)
            for (index, table) in tables.enumerated() {
                if index > 0 { writer.append(raw: ",") }
                writer.append(name: table)
                writer.append(raw: #""replacement""#)
            }
            writer.append(raw: "}}")
        }
    }

    private func appendWrapOpening(to writer: inout JSONWriter) {
        for name in dialect.wrap {
            writer.append(raw: "{")
            writer.append(name: name)
        }
    }

    private func appendWrapClosing(to writer: inout JSONWriter) {
        for _ in dialect.wrap { writer.append(raw: "}") }
    }
}

/// Some records of one table, by their ids.
package struct RecordList: Hashable, Sendable {
    /// The client's name of the table.
    package var table: String
    /// The ids.
    package var ids: [String]

    /// Records of a table.
    package init(table: String, ids: [String]) {
        self.table = table
        self.ids = ids
    }

    /// Appends an object with a list of ids for each table.
    static func append(_ lists: [RecordList], to writer: inout JSONWriter) {
        writer.append(raw: "{")
        for (index, list) in lists.enumerated() {
            if index > 0 { writer.append(raw: ",") }
            writer.append(name: list.table)
            writer.append(raw: "[")
            for (place, id) in list.ids.enumerated() {
                if place > 0 { writer.append(raw: ",") }
                writer.append(string: id)
            }
            writer.append(raw: "]")
        }
        writer.append(raw: "}")
    }
}
