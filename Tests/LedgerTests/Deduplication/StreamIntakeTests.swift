// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import JSONBytes
import LineProjection
import SyncMachines
import SyncModel
import Testing

@Suite struct StreamIntakeTests {
    private static let projection: Projection = {
        var table = Table(name: "tasks")
        table.feeds = [Table.Feed(versions: [.init(requestType: "TasksV1")])]
        table.upserts = ["TaskV1"]
        table.deletes = [Table.DeleteRule(type: "TaskDeleteV1", target: .by([Path(name: "taskId")], all: false))]
        table.ids = [Table.IDRule(paths: [Path(name: "id")])]
        table.columns = [Column(name: "name", type: .string)]
        return Projection(schema: Schema(tables: [table]), schemaVersion: 1)
    }()

    private static func intake(_ change: (inout StreamIntake.Limits) -> Void = { _ in }) -> StreamIntake {
        var limits = StreamIntake.Limits()
        change(&limits)
        return StreamIntake(projection: projection, hashKey: SipHash.Key(1, 2), limits: limits)
    }

    private static func task(_ id: String, _ name: String = "n", _ token: Int = 1) -> String {
        #"{"type":"TaskV1","data":{"id":"\#(id)","name":"\#(name)"},"ack":"TaskV1|\#(token)"}"# + "\n"
    }

    private static let complete = #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|9"}"# + "\n"

    private func feed(_ intake: inout StreamIntake, _ text: String, cut: Int = .max) throws {
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: min(cut, max(bytes.count, 1))) {
            try bytes[start..<min(start + min(cut, bytes.count), bytes.count)].withUnsafeBytes { try intake.feed($0) }
        }
    }

    @Test(arguments: [("TaskV1", true), ("ProjectDeleteV1", false)])
    func `lines of one namespace are in order, and those of two are not`(namespace: String, isOrdered: Bool) throws {
        var table = Self.projection.schema.tables[0]
        table.columns = [Column(name: "project_id", type: .string)]
        table.deletes = [
            Table.DeleteRule(
                type: "ProjectDeleteV1", target: .whereColumn("project_id", equals: Path(name: "projectId")))
        ]
        let projection = Projection(schema: Schema(tables: [table]), schemaVersion: 1)
        var intake = StreamIntake(
            projection: projection, hashKey: SipHash.Key(1, 2), limits: StreamIntake.Limits(), ledgered: [0])
        intake.beginRequest()
        let row = #"{"type":"TaskV1","data":{"id":"a","project_id":"p"},"ack":"TaskV1|1"}"# + "\n"
        let deletion = #"{"type":"ProjectDeleteV1","data":{"projectId":"p"},"ack":"\#(namespace)|2"}"# + "\n"
        try feed(&intake, row + deletion + Self.complete)
        let line = try #require(intake.signs.deletions.values.first?.values.first)
        #expect(line.sequence == 2 && line.spares(1) == !isOrdered && line.contradicts(1) == !isOrdered)
    }

    @Test(arguments: [1, 2, 7, 64, 100_000]) func `chunks may be cut anywhere`(_ cut: Int) throws {
        var intake = Self.intake()
        intake.beginRequest()
        try feed(&intake, Self.task("a", "x", 1) + Self.task("b", "y", 2) + Self.complete, cut: cut)
        let report = intake.report()
        #expect(report.end == .complete)
        #expect(report.carriedData)
        #expect(report.received == CheckpointVector(["TaskV1": "TaskV1|2", "SyncCompleteV1": "SyncCompleteV1|9"]))
        #expect(intake.counts.rows == 2)
    }

    @Test func `a stream that ends without the complete line is broken and keeps its tokens`() throws {
        var intake = Self.intake()
        intake.beginRequest()
        try feed(&intake, Self.task("a", "x", 1) + #"{"type":"TaskV1","data":{"id":"b""#)
        #expect(intake.report().end == .broken)
        #expect(intake.report().received == CheckpointVector(["TaskV1": "TaskV1|1"]))
        intake.beginRequest()
        try feed(&intake, Self.task("b", "y", 2) + Self.complete)
        #expect(intake.report().end == .complete)
        #expect(intake.counts.rows == 2)
    }

    @Test func `a request reports its own tokens alone, since it may have begun before those of an earlier one`() throws
    {
        var intake = Self.intake()
        intake.beginRequest()
        try feed(&intake, Self.task("a", "x", 5) + Self.complete)
        intake.beginRequest()
        #expect(intake.report().end == .broken && intake.report().received == CheckpointVector())
        try feed(&intake, Self.task("b", "y", 1))
        #expect(intake.report().received == CheckpointVector(["TaskV1": "TaskV1|1"]))
    }

    @Test func `a reset ends the request with its token, which is no checkpoint`() throws {
        var intake = Self.intake()
        intake.beginRequest()
        try feed(&intake, #"{"type":"SyncResetV1","data":{},"ack":"SyncResetV1|reset"}"# + "\n" + Self.task("a"))
        #expect(intake.report() == StreamReport(end: .reset(token: "SyncResetV1|reset"), carriedData: false))
        #expect(intake.counts.rows == 0)
    }

    @Test func `what comes after the complete line is ignored`() throws {
        var intake = Self.intake()
        intake.beginRequest()
        try feed(&intake, Self.complete + Self.task("late"))
        #expect(intake.counts.rows == 0)
        #expect(!intake.report().carriedData)
    }

    @Test func `a bad line is quarantined with its bytes and the stream goes on`() throws {
        var intake = Self.intake {
            $0.quarantineBytes = 8
            $0.line = 200
        }
        intake.beginRequest()
        let long = Self.task("c", String(repeating: "x", count: 300), 2)
        try feed(&intake, Self.task("a") + "{not json}\n" + long + Self.task("b", "y", 3) + Self.complete)
        #expect(intake.report().end == .complete)
        #expect(intake.counts.rows == 2)
        #expect(intake.counts.quarantined == 2)
        #expect(intake.quarantined.map(\.reason) == [.invalidJSON, .tooLong])
        #expect(intake.quarantined.first?.bytes == Array("{not jso".utf8))
    }

    @Test(arguments: ["\n", "{}\n", #"{"type":"NobodyV1","data":{},"ack":"NobodyV1|1"}"# + "\n"])
    func `a stream of lines that bring nothing is given up`(_ line: String) throws {
        var intake = Self.intake { $0.otherLines = 100 }
        intake.beginRequest()
        try feed(&intake, String(repeating: line, count: 60) + String(repeating: Self.task("a"), count: 200))
        #expect(throws: StreamIntake.Failure.tooManyLines) {
            try feed(&intake, String(repeating: line, count: 60))
        }
    }

    @Test func `more rows than allowed end the pull`() throws {
        var intake = Self.intake { $0.rows = 1 }
        intake.beginRequest()
        #expect(throws: StreamIntake.Failure.tooManyRows) {
            try feed(&intake, Self.task("a") + Self.task("b") + Self.complete)
        }
    }

    /// Lines of one record, the end of a part or of a request between them, and what they say.
    struct Contest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var deletion = "TaskDeleteV1|1"
        var between = Between.nothing
        var isThere: Bool
        var isContested: Bool

        enum Between: Sendable { case nothing, aBreak, anEnd }
    }

    @Test(arguments: [
        Contest(testDescription: "another namespace", isThere: true, isContested: true),
        Contest(testDescription: "a namespace of both", deletion: "TaskV1|6", isThere: false, isContested: false),
        Contest(testDescription: "resumed between them", between: .aBreak, isThere: false, isContested: true),
        Contest(testDescription: "a later request", between: .anEnd, isThere: false, isContested: false),
    ])
    func `a row counts against a deletion behind it, unless that is known to be newer`(contest: Contest) async throws {
        for run in [1, 1_000] {
            var intake = Self.intake { $0.run = run }
            var stored: [UInt8] = []
            func take(_ line: String) throws {
                try feed(&intake, line)
                while let piece = intake.nextRunPiece() { stored += piece }
            }
            intake.beginRequest()
            try take(Self.task("d", "x", 5))
            if contest.between == .anEnd { try take(Self.complete) }
            if contest.between != .nothing { intake.beginRequest() }
            try take(#"{"type":"TaskDeleteV1","data":{"taskId":"d"},"ack":"\#(contest.deletion)"}"# + "\n")
            try take(Self.complete)
            let runs = stored
            var reader = intake.reader { offset, count in Array(runs[Int(offset)..<Int(offset) + count]) }
            try await reader.open(Self.projection.tableOrder.rank[0])
            #expect(try await reader.next())
            #expect(!reader.group.added.isEmpty == contest.isThere && reader.group.isContested == contest.isContested)
        }
    }

    @Test func `one id comes once, in its latest state, whatever the size of the runs`() async throws {
        for run in [1, 3, 1_000] {
            var intake = Self.intake { $0.run = run }
            var stored: [UInt8] = []
            intake.beginRequest()
            for line in [
                Self.task("a", "old", 1), Self.task("b", "only", 2), Self.task("a", "new", 3),
                #"{"type":"TaskDeleteV1","data":{"taskId":"c"},"ack":"TaskDeleteV1|4"}"# + "\n", Self.task("d", "x", 5),
                #"{"type":"TaskDeleteV1","data":{"taskId":"d"},"ack":"TaskDeleteV1|6"}"# + "\n", Self.complete,
            ] {
                try feed(&intake, line)
                while let piece = intake.nextRunPiece() { stored += piece }
            }
            var spool: [UInt8] = []
            while let chunk = intake.nextRestChunk(offset: UInt64(spool.count)) { spool += chunk }
            let runs = stored
            var reader = intake.reader { offset, count in Array(runs[Int(offset)..<Int(offset) + count]) }
            let diffed = try await DiffedLines(
                of: &reader, Self.projection.schema, order: Self.projection.tableOrder, verdicts: intake.verdicts,
                delivery: .incremental)
            func text(_ part: SegmentKey.Part, _ wanted: LineSet) -> String {
                var picker = LinePicker()
                let stretches = intake.segments()[SegmentKey(table: 0, part: part)]?.stretches(of: wanted) ?? []
                return stretches.map { stretch in
                    picker.begin(stretch, wanted: wanted)
                    let bytes = spool[Int(stretch.offset)..<Int(stretch.offset + stretch.length)]
                    return String(decoding: picker.take(Array(bytes)), as: UTF8.self)
                }.joined()
            }
            let verdicts = diffed.verdicts[0]
            #expect(
                text(.records, verdicts.updated)
                    == [#"{"id":"b","name":"only"}"#, #"{"id":"a","name":"new"}"#, #"{"id":"d","name":"x"}"#]
                    .joined(separator: ",\n"))
            #expect(text(.deletions, verdicts.deleted) == #""c""#)
            #expect(verdicts.created.count == 0 && diffed.superseded == 2)
        }
    }

    @Test(arguments: [("TaskV2", true), ("TaskDeleteV2", false), ("NoteV1", false), ("TasksV1", false)])
    func `rows of another version of a type make its table blind: what did not come may be there`(
        _ row: (type: String, isBlind: Bool)
    ) throws {
        var intake = Self.intake()
        intake.beginRequest()
        let line = #"{"type":"\#(row.type)","data":{"id":"a"},"ack":"\#(row.type)|1"}"# + "\n"
        try feed(&intake, line + Self.complete)
        #expect(intake.counts.unknownTypes == 1)
        #expect(intake.signs.isBlind(0) == row.isBlind)
    }
}
