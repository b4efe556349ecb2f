// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import NIOCore
import SyncModel
import Testing

@testable import Gateway

/// From lines to the arrays of an answer, through the spool's own files.
@Suite struct FinishedSpoolTests {
    private static let projection: Projection = {
        let tables = ["tasks", "projects"].map { name in
            var table = Table(name: name)
            table.feeds = [Table.Feed(versions: [.init(requestType: "\(name)V1")])]
            table.upserts = ["\(name)Row"]
            table.deletes = [Table.DeleteRule(type: "\(name)Gone", target: .by([Path(name: "id")], all: false))]
            table.columns = [Column(name: "v", type: .string)]
            if name == "tasks" { table.parents = [Table.Parent(column: "v", table: "projects")] }
            return table
        }
        return Projection(schema: Schema(tables: tables), schemaVersion: 1)
    }()

    private func spooler(memory: Int, run: Int) -> StreamSpooler {
        var limits = StreamIntake.Limits()
        limits.run = run
        return StreamSpooler(
            projection: Self.projection, hashKey: SipHash.Key(1, 2), intakeLimits: limits,
            spoolLimits: Spool.Limits(files: DiskSpoolFiles(directory: "/tmp"), memory: memory, total: 64 << 20),
            ledgered: [0, 1])
    }

    private func take(_ spooler: inout StreamSpooler, rows: Range<Int>, _ filler: String) async throws {
        for row in rows {
            var lines = #"{"type":"tasksRow","data":{"id":"t\#(row)","v":"\#(filler)"},"ack":"a|1"}"# + "\n"
            if row % 10 == 0 { lines += #"{"type":"projectsRow","data":{"id":"p\#(row)"},"ack":"a|1"}"# + "\n" }
            if row % 7 == 0 { lines += #"{"type":"tasksGone","data":{"id":"t\#(row / 2)"},"ack":"a|1"}"# + "\n" }
            try await spooler.take(ByteBuffer(string: lines))
        }
    }

    private func array(_ spool: FinishedSpool, _ table: Int, _ array: AnswerArray) async throws -> [String] {
        var bytes: [UInt8] = []
        try await spool.forEachPiece(of: table, array: array) { piece in
            #expect(!piece.isEmpty)
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: ",\n").map(String.init)
    }

    @Test(arguments: [0, 200_000, 16 << 20], [50, 1_000_000])
    func `what is decided about a line is what goes out, from memory and from files`(memory: Int, run: Int) async throws
    {
        let filler = String(repeating: "x", count: 700)
        var spooler = spooler(memory: memory, run: run)
        spooler.beginRequest()
        try await take(&spooler, rows: 0..<600, filler)
        // The first look; then more comes.
        var first = spooler.reader()
        try await first.open(Self.projection.tableOrder.rank[0])
        var looked = 0
        while try await first.next() { looked += 1 }
        #expect(looked == 600)
        try await take(&spooler, rows: 600..<900, filler)

        var verdicts = spooler.verdicts
        var reader = spooler.reader()
        for (rank, place) in Self.projection.tableOrder.order.enumerated() {
            try await reader.open(TableRank(rawValue: UInt16(rank)))
            while try await reader.next() {
                let id = PackedID.text(of: reader.group.packedID) ?? ""
                let number = Int(id.dropFirst()) ?? -1
                if let upsert = reader.group.upsert, !reader.group.feeds(after: []).isEmpty {
                    // The last third of the lines goes nowhere, so whole chunks are skipped.
                    if number < 300 { verdicts[place].create(upsert.line) }
                    if (300..<600).contains(number), number % 3 == 0 { verdicts[place].update(upsert.line) }
                } else if let deletion = reader.group.deletion {
                    verdicts[place].delete(deletion.line)
                }
            }
        }
        var gones = SegmentWriter()
        for number in 0..<20_000 {
            Array("gone\(number)".utf8).withUnsafeBytes { gones.append(id: $0) }
            guard gones.isFull || number == 19_999 else { continue }
            try await spooler.spool.append(gones.takeChunk(storedAt: spooler.spool.length))
        }
        for table in verdicts.indices { verdicts[table].seal() }
        let finished = try await spooler.finish(
            DiffedLines(verdicts: verdicts), absences: [SegmentIndex(), gones.finished()])

        let gone = Set(stride(from: 0, to: 900, by: 7).map { $0 / 2 })
        let row: (Int) -> String = { #"{"id":"t\#($0)","v":"\#(filler)"}"# }
        // Row 0 is deleted after it came, and by nothing later brought back.
        #expect(try await array(finished, 0, .created) == (0..<300).filter { !gone.contains($0) }.map(row))
        #expect(
            try await array(finished, 0, .updated)
                == (300..<600).filter { $0 % 3 == 0 && !gone.contains($0) }.map(row))
        #expect(try await Set(array(finished, 0, .deleted)) == Set(gone.map { "\"t\($0)\"" }))
        #expect(try await array(finished, 1, .created).count == 30)
        #expect(try await array(finished, 1, .deleted) == (0..<20_000).map { "\"gone\($0)\"" })
        #expect(finished.count(.deleted) == gone.count + 20_000)
        #expect(finished.count(of: 0, array: .created) == (0..<300).count { !gone.contains($0) })
    }
}
