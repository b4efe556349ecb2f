// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

/// Whether a row has something in columns that its client has only just got.
@Suite struct AddedColumnTests {
    /// Watches column `c` of a table with another one that always has a value.
    private static func brings(_ column: Column, _ data: String, watching: [String: Set<String>]) -> Bool? {
        let schema = Schema(
            version: 2,
            tables: [
                .make("others", upsert: "OtherV1", columns: [.make("c", .string)]),
                .make("t", upsert: "TV1", columns: [.make("a", .string), column]),
            ])
        var projector = LineProjector(Projection(schema: schema, schemaVersion: 2), key: ProjectionBench.key)
        projector.watch(watching)
        var output = JSONWriter()
        let members = data.isEmpty ? "" : "," + data
        let line = Array(#"{"type":"TV1","data":{"id":"x","a":"some"\#(members)},"ack":"TV1|1"}"#.utf8)
        guard case .upsert = line.withUnsafeBytes({ projector.project($0, into: &output) }) else { return nil }
        return projector.bringsWatched
    }

    @Test(
        arguments: [
            (.string, false, #""c":"x""#, true), (.string, false, #""c":"""#, false), (.string, false, "", false),
            (.string, false, #""c":null"#, false), (.string, true, #""c":"""#, true), (.string, true, "", false),
            (.number, false, #""c":0"#, false), (.number, false, #""c":-0.0"#, false),
            (.number, false, #""c":7"#, true),
            (.number, true, #""c":0"#, true), (.number, true, #""c":null"#, false),
            (.boolean, false, #""c":false"#, false), (.boolean, false, #""c":true"#, true),
            (.boolean, true, #""c":false"#, true), (.json, true, #""c":{}"#, true), (.json, true, #""c":null"#, false),
            // What the column cannot hold becomes its default.
            (.number, false, #""c":"seven""#, false), (.timestamp, true, #""c":"2026-01-02T03:04:05Z""#, true),
        ] as [(ColumnType, Bool, String, Bool)])
    func `an added column brings something unless it is at its default`(
        _ row: (type: ColumnType, isOptional: Bool, data: String, brings: Bool)
    ) {
        let column = Column.make("c", row.type, optional: row.isOptional, since: 2)
        #expect(Self.brings(column, row.data, watching: ["t": ["c"]]) == row.brings)
        #expect(Self.brings(column, row.data, watching: ["t": ["a"]]) == true)
        #expect(Self.brings(column, row.data, watching: ["others": ["c"]]) == false)
        #expect(Self.brings(column, row.data, watching: [:]) == false)
    }

    @Test func `a value that the configuration gives counts as well`() {
        let column = Column.make("c", .string, since: 2, .at("c"), .literal(.string("set")))
        #expect(Self.brings(column, "", watching: ["t": ["c"]]) == true)
        let empty = Column.make("c", .string, since: 2, .at("c"), .literal(.string("")))
        #expect(Self.brings(empty, "", watching: ["t": ["c"]]) == false)
    }
}
