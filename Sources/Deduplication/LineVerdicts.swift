// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The verdict on every line of one table: a row goes into `created`, into `updated` or nowhere.
///
/// The id of a deletion goes into `deleted` or nowhere. Verdicts take two bits for each row and one for each deletion;
/// if all rows of a table have the same verdict, they take none. At first no line goes anywhere.
package struct LineVerdicts: Hashable, Sendable {
    /// The rows that go into `created`.
    package private(set) var created: LineSet
    /// The rows that go into `updated`.
    package private(set) var updated: LineSet
    /// The deletion lines whose id goes into `deleted`.
    package private(set) var deleted: LineSet

    /// Creates verdicts on so many rows and deletion lines: none goes out.
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

    /// Frees the memory that is not needed once all verdicts are final.
    package mutating func seal() {
        created.seal()
        updated.seal()
        deleted.seal()
    }

    /// The memory of the three sets' bits, in bytes.
    package var byteCount: Int { created.byteCount + updated.byteCount + deleted.byteCount }
}

/// One of the arrays of a table in an answer.
package enum AnswerArray: String, CaseIterable, Sendable {
    /// Records that are new to the client.
    case created
    /// Records that the client has already.
    case updated
    /// Ids of records that the client has to delete.
    case deleted
}

/// The verdicts on all lines of a stream.
package struct DiffedLines: Hashable, Sendable {
    /// The verdicts by the table's index in the schema.
    package var verdicts: [LineVerdicts]
    /// The number of lines that a later line of the same record has superseded.
    package var superseded = 0

    /// Creates a result with the verdicts so far.
    package init(verdicts: [LineVerdicts]) { self.verdicts = verdicts }
}
