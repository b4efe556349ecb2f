// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import SyncModel

/// A writer of the answers to successful requests, around records that are sent from a spool.
///
/// The pieces of a pull answer in their order: ``opening``, then for each table ``tableOpening(_:isFirst:)``, the
/// created records, ``updatedOpening``, the updated ones, ``deletedOpening``, the deleted ids, ``tableClosing``, and
/// at last ``closing(cursor:strategy:)``. Records are separated by ``separator``. Each table has all three lists: a
/// client that misses one fails before it applies anything (protocol rule 4).
package struct AnswerWriter: Sendable {
    /// The client's treatment of the records that it has and that the answer does not name.
    package enum Strategy: Hashable, Sendable {
        /// The client keeps the records.
        case incremental
        /// The client drops the records, except those that it never pushed.
        ///
        /// Understood since 0.25 and only by apps that hand the whole answer on; others keep the records (protocol rule
        /// 6).
        case replacement
        /// The client drops the records of these tables, and keeps those of all others.
        case replacementOf([String])

        /// Returns true if records of the table that the answer does not name are dropped, so that deletions need not
        /// be named.
        package func replaces(_ table: String) -> Bool {
            switch self {
            case .incremental: false
            case .replacement: true
            case .replacementOf(let tables): tables.contains(table)
            }
        }
    }

    /// The content type of every answer that is not an error.
    package static let contentType = "application/json; charset=utf-8"
    /// The bytes between two records, and between two deleted ids.
    package static let separator = Array(",".utf8)
    /// The bytes between a table's created and updated records.
    package static let updatedOpening = Array(#"],"updated":["#.utf8)
    /// The bytes between a table's updated records and its deleted ids.
    package static let deletedOpening = Array(#"],"deleted":["#.utf8)
    /// The bytes after a table's deleted ids.
    package static let tableClosing = Array("]}".utf8)

    private let dialect: WireDialect

    /// Creates a writer for a dialect.
    package init(dialect: WireDialect) { self.dialect = dialect }

    /// The bytes of a pull answer before its first table.
    package var opening: [UInt8] {
        var writer = JSONWriter()
        appendWrapOpening(to: &writer)
        writer.append(raw: #"{"changes":{"#)
        return writer.bytes
    }

    /// Returns the bytes before a table's created records.
    package func tableOpening(_ name: String, isFirst: Bool) -> [UInt8] {
        var writer = JSONWriter()
        if !isFirst { writer.append(raw: ",") }
        writer.append(name: name)
        writer.append(raw: #"{"created":["#)
        return writer.bytes
    }

    /// Returns the end of a pull answer: the cursor under its configured name, and the strategy unless it is the usual
    /// one.
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

    /// Returns the whole answer to a push that was accepted.
    ///
    /// The answer is `{}` unless records were rejected because the backend will never accept them. Rejected records are
    /// understood since 0.24 and only by apps that hand the answer on; others count them as synced (protocol rule 6).
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

/// A list of records of one table, by their ids.
package struct RecordList: Hashable, Sendable {
    /// The client's name for the table.
    package var table: String
    /// The ids.
    package var ids: [String]

    /// Creates a list of records.
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
            for (index, id) in list.ids.enumerated() {
                if index > 0 { writer.append(raw: ",") }
                writer.append(string: id)
            }
            writer.append(raw: "]")
        }
        writer.append(raw: "}")
    }
}
