// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What becomes of every line of one table: a row goes into `created`, into `updated` or nowhere, the id of a deletion
/// into `deleted` or nowhere.
///
/// Two bits a row and one a deletion; where all rows of a table share one fate, none. In the beginning nothing goes
/// anywhere.
package struct LineVerdicts: Hashable, Sendable {
    /// The rows that go into `created`.
    package private(set) var created: LineSet
    /// The rows that go into `updated`.
    package private(set) var updated: LineSet
    /// The deletion lines whose id goes into `deleted`.
    package private(set) var deleted: LineSet

    /// Verdicts on so many rows and deletion lines: all are skipped.
    package init(records: Int, deletions: Int) {
        created = LineSet(lines: records)
        updated = LineSet(lines: records)
        deleted = LineSet(lines: deletions)
    }

    /// Sends a row in `created`.
    package mutating func create(_ line: UInt32) {
        if updated.count > 0 { updated.remove(Int(line)) }
        created.insert(Int(line))
    }

    /// Sends a row in `updated`.
    package mutating func update(_ line: UInt32) {
        if created.count > 0 { created.remove(Int(line)) }
        updated.insert(Int(line))
    }

    /// Sends the id of a deletion line in `deleted`.
    package mutating func delete(_ line: UInt32) { deleted.insert(Int(line)) }

    /// Gives back what is not needed any more when all is decided.
    package mutating func seal() {
        created.seal()
        updated.seal()
        deleted.seal()
    }

    /// How many bytes they take besides themselves.
    package var byteCount: Int { created.byteCount + updated.byteCount + deleted.byteCount }
}

/// One of the arrays of a table in an answer.
package enum AnswerArray: String, CaseIterable, Sendable {
    /// Records that are new to the client.
    case created
    /// Records that it has already.
    case updated
    /// Ids of records that it has to delete.
    case deleted
}

/// What has been decided about all lines of a stream.
package struct DiffedLines: Hashable, Sendable {
    /// By the table's place in the schema.
    package var verdicts: [LineVerdicts]
    /// How many lines a later line of the same record has made void.
    package var superseded = 0

    /// The verdicts so far.
    package init(verdicts: [LineVerdicts]) { self.verdicts = verdicts }
}
