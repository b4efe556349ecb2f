// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel

/// Finds what the order of a stream's lines can lose: lines that share a token, and a record that comes and goes.
struct LineOrder {
    private struct RecordKey: Hashable {
        var table: Int
        var id: IDHash
    }

    private struct Sharing {
        var count = 0
        var example: String
    }

    /// The last token of each namespace, since lines that share one follow each other.
    private var last = CheckpointVector()
    private var sharing: [String: Sharing] = [:]
    /// The namespaces of the rows, and of the deletions, of each record.
    private var rows: [RecordKey: String] = [:]
    private var deletions: [RecordKey: String] = [:]

    /// Notes a line of a record with a token.
    mutating func note(_ result: LineResult, _ checkpoint: Checkpoint, type: String) {
        switch result {
        case .upsert(let table, _, let id, _): rows[RecordKey(table: table, id: id)] = checkpoint.namespace
        case .delete(let table, _, _, let id, _): deletions[RecordKey(table: table, id: id)] = checkpoint.namespace
        case .deleteWhere: break
        case .ackOnly, .idMapping, .complete, .reset, .unknownType, .quarantined: return
        }
        if last[checkpoint.namespace] == checkpoint.token {
            sharing[type, default: Sharing(example: checkpoint.token)].count += 1
        }
        last.advance(to: checkpoint)
    }

    /// Returns what is odd about the lines; of tables `schema` has the names.
    func remarks(_ schema: Schema) -> [SampleRemark] {
        let shared = sharing.sorted { $0.key < $1.key }.map { type, sharing in
            SampleRemark(
                .likely,
                "\(type): \(SampleFindings.lines(sharing.count)) with the token of the line before; if the stream breaks "
                    + "between the two, the second is lost until the next full comparison",
                hint: "give each line a token of its own (docs/BACKEND-PROTOCOL.md, 4)")
        }
        let contested = Set(
            deletions.filter { rows[$0.key].map { [own = $0.value] in $0 != own } ?? false }.map(\.key.table))
        return shared
            + contested.sorted().map { table in
                SampleRemark(
                    .possible,
                    "\(schema.tables[table].name): a record comes and is deleted, in two namespaces; it is kept, and the "
                        + "next pull compares the whole type",
                    hint: "give rows and deletions one namespace if they are events (docs/BACKEND-PROTOCOL.md, 3)")
            }
    }
}
