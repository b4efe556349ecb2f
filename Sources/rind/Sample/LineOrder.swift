// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncMachines
import SyncModel

/// Finds what the order of a stream's lines can lose: lines that share a token or are behind it, and a record that comes
/// and goes.
struct LineOrder {
    private struct RecordKey: Hashable {
        var table: Int
        var id: IDHash
    }

    /// The last token of each namespace, since lines that share one follow each other.
    private var last = CheckpointVector()
    private var sharing: [String: Int] = [:]
    /// The types of lines whose token is older than that of the line before.
    private var behind: [String: Int] = [:]
    /// The namespace of the newest row of each record.
    private var rows: [RecordKey: String] = [:]
    /// The tables with a deletion behind a row of another namespace.
    private var contested: Set<Int> = []

    /// Notes a line of a record with a token.
    mutating func note(_ result: LineResult, _ checkpoint: Checkpoint, type: String) {
        switch result {
        case .upsert(let table, _, let id, _): rows[RecordKey(table: table, id: id)] = checkpoint.namespace
        case .delete(let table, _, _, let id, _):
            let row = rows[RecordKey(table: table, id: id)]
            if row != nil, row != checkpoint.namespace { contested.insert(table) }
        case .deleteWhere: break
        case .ackOnly, .idMapping, .complete, .reset, .unknownType, .quarantined: return
        }
        if let last = last[checkpoint.namespace] {
            if last == checkpoint.token { sharing[type, default: 0] += 1 }
            if TokenAge.isOlder(checkpoint.token, than: last) { behind[type, default: 0] += 1 }
        }
        last.advance(to: checkpoint)
    }

    /// Returns what is odd about the lines; of tables `schema` has the names.
    func remarks(_ schema: Schema) -> [SampleRemark] {
        let shared = sharing.sorted { $0.key < $1.key }.map { type, count in
            SampleRemark(
                .likely,
                "\(type): \(SampleFindings.lines(count)) with the token of the line before; if the stream breaks "
                    + "between the two, the second is lost until the next full comparison",
                hint: "give each line a token of its own (docs/BACKEND-PROTOCOL.md, 4)")
        }
        let disordered = behind.sorted { $0.key < $1.key }.map { type, count in
            SampleRemark(
                .likely,
                "\(type): \(SampleFindings.lines(count)) with an older token than the line before; if the stream "
                    + "breaks between the two, the newer token confirms both",
                hint: "send the lines of a namespace in the order of their tokens (docs/BACKEND-PROTOCOL.md, 4)")
        }
        return shared + disordered
            + contested.sorted().map { table in
                SampleRemark(
                    .possible,
                    "\(schema.tables[table].name): a record comes and is deleted behind it, in another namespace; it "
                        + "is kept, and the next pull compares the whole type",
                    hint: "give rows and deletions one namespace if they are events (docs/BACKEND-PROTOCOL.md, 3)")
            }
    }
}
