// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import Testing

@testable import StateStore
@testable import rind

@Suite struct RecordCountsTests {
    private func row(
        _ id: Int64, seen: Instant, version: Int? = 9, counts: [String: Int] = [:], compared: [String] = []
    ) -> ReplicaRow {
        ReplicaRow(
            id: ReplicaID(rawValue: id), principal: StateFixture.alice, isConfirmed: true, firstSeen: 0, lastSeen: seen,
            lastResult: "", newest: nil, schemaVersion: version, ledger: counts.mapValues { LedgerCount(held: $0) },
            comparisons: Dictionary(compared.map { ($0, FullComparison(doneAt: 1, mapping: "m")) }) { $1 })
    }

    private func update(_ rows: [ReplicaRow], from: Int = 9, to: Int = 12) throws -> SchemaUpdate {
        let schema = try SchemaUpdateTests.schema()
        return SchemaUpdate(
            from: from, to: to, schema: schema,
            counts: RecordCounts(of: StateFixture.alice, schema: schema, rows: rows))
    }

    @Test func `the device that was seen last counts`() throws {
        let update = try update([
            row(1, seen: 20, counts: ["albums": 120, "assets": 9_000]), row(2, seen: 10, counts: ["albums": 7]),
            row(3, seen: 30, version: 12, counts: ["assets": 9_500]),
        ])
        #expect(update.tables.map(\.records) == [120, nil, 9_500])
        #expect(update.estimate == 9_620 && update.uncounted.isEmpty)
        #expect(update.lines.contains("  records   about 120"))
        #expect(
            update.lines.suffix(2) == [
                "a11ce0000000 has 3 replicas, 2 of version 9.",
                "For each device about 9620 records are streamed again.",
            ])
    }

    @Test func `how many records of a table come that no device has is unknown`() throws {
        let update = try update([row(1, seen: 1, version: 8, counts: ["albums": 1, "assets": 0])], from: 8)
        #expect(update.tables.map(\.records) == [1, nil, 0])
        #expect(update.uncounted == ["album_assets"])
        #expect(update.lines.contains("  records   not known: no device of theirs has it"))
        #expect(
            update.lines.suffix(2) == [
                "a11ce0000000 has 1 replica, 1 of version 8.",
                "For each device about 1 record is streamed again, and those of album_assets.",
            ])
        #expect(update.json["uncounted"]?.array?.compactMap(\.string) == ["album_assets"])
        #expect(update.json["tables"]?[1]?["records"]?.isNull == true)
    }

    @Test func `a table that was compared and has no count is empty`() throws {
        let compared = row(1, seen: 1, version: 12, counts: ["assets": 3], compared: ["AlbumsV2"])
        #expect(try update([compared]).tables.map(\.records) == [0, nil, 3])
        // Only one of the two types that bring assets was.
        let partly = row(1, seen: 1, version: 12, compared: ["AlbumsV2", "AssetsV2"])
        #expect(try update([partly]).tables.map(\.records) == [0, nil, nil])
    }

    @Test func `a principal without replicas has no counts`() throws {
        let update = try update([])
        #expect(update.uncounted == ["albums", "assets"])
        #expect(update.json["replicas"]?.int64 == 0 && update.json["records"]?.int64 == 0)
    }
}
