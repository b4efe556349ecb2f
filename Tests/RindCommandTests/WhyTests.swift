// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import JSONBytes
import Ledger
import SyncModel
import Testing

@testable import StateStore
@testable import rind

@Suite struct WhyTests {
    private static let phone = "0123456789abcdef"

    @Test func `why tells of a record that the device holds since when, with what and on what it hangs`()
        async throws
    {
        try await StateFixture.with { state in
            let result = try await state.run("why", "--replica", "01234567", "--table", "tasks", "--id", "t-2")
            #expect(result.status == 64, "two replicas begin so")
            let text = try await state.run("why", "--replica", "0123456789", "--table", "tasks", "--id", "t-2")
            #expect(text.status == 0)
            #expect(
                text.out == """
                    tasks t-2 on \(Self.phone)

                    The device holds it: it came, or came last, with the cursor 1800000000000 (2027-01-15T08:00:00Z) or \
                    an older one.
                    Its content has the digest 0000000000000002, delivered with that cursor or before it, and nothing \
                    of it has gone out since. A line with the same content is dropped as equal.
                    Its project_id names projects p-1, which the device holds: if that one is deleted, so is this.

                    """)
            let json = try await state.json("why", "--replica", Self.phone, "--table", "tasks", "--id", "t-2")
            #expect(json["holds"]?.bool == true && json["verdict"]?.string == "held")
            #expect(json["content"]?.string == "0000000000000002")
            #expect(json["parents"]?[0]?["id"]?.string == "p-1")
            #expect(json["history"]?[0]?["place"]?.string == "base")
            #expect(json["sentences"]?.array?.count == 3)
            let manual = try Place.text("docs/OPERATIONS.md")
            for name in (json.members ?? []).map(\.name) { #expect(manual.contains("`\(name)`"), "\(name)") }
        }
    }

    @Test func `why tells of a record that never came`() async throws {
        try await StateFixture.with { state in
            let json = try await state.json("why", "--replica", Self.phone, "--table", "tasks", "--id", "t-9")
            #expect(json["holds"]?.bool == false && json["verdict"]?.string == "absent")
            #expect(json["history"]?.array?.isEmpty == true && json["content"]?.isNull == true)
            let other = try await state.json("why", "--replica", "7fff", "--table", "tasks", "--id", "t-1")
            #expect(other["holds"]?.isNull == true && other["verdict"]?.string == "unknown")
        }
    }

    @Test(
        arguments: [
            ["--table", "tsks", "--id", "t"], ["--table", "tasks", "--id", "a b"], ["--table", "tasks", "--id", ""],
        ])
    func `what cannot be a record is refused`(arguments: [String]) async throws {
        try await StateFixture.with { state in
            let result = try await RunningCommand.run(
                ["why", "--replica", Self.phone, "--config", Place.quickstart] + arguments, directory: state.directory)
            #expect(result.status == 64 && result.out.isEmpty)
        }
    }

    /// A finding, and what is to be said of it.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var state: LedgerState?
        var cursor: Int64 = 10
        var content: UInt64?
        var feeds: FeedSet = []
        var note: PushNote.State?
        var isNoteNew = true
        var isExact = true
        var hasLedger = true
        var isQuarantined = false
        var verdict: WhyReport.Verdict
        var holds: Bool?
        var sentence: String

        static let all: [Case] = [
            Case(
                testDescription: "held", state: .held, content: 255, feeds: FeedSet(feed: 1), verdict: .held,
                holds: true,
                sentence: "It came through SharedTasksV1, and stays until the last of them has let it go."),
            Case(
                testDescription: "held, without content", state: .held, feeds: FeedSet(first: 2), verdict: .held,
                holds: true,
                sentence: "Which content it has is not known: its next line goes out in 'updated'."),
            Case(
                testDescription: "held, by an answer under way", state: .held, cursor: 30, verdict: .pending,
                sentence: "It went out with the cursor 30 (1970-01-01T00:00:00Z), which has not come back yet"),
            Case(
                testDescription: "held, in a ledger that is not exact", state: .held, isExact: false, verdict: .held,
                sentence: "The ledger is not exact at the device's cursor"),
            Case(
                testDescription: "held, and its deletion pushed since", state: .held, note: .gone, verdict: .held,
                sentence: "has pushed its deletion, and the backend took it; that was after this cursor"),
            Case(
                testDescription: "held with content, and pushed since", state: .held, content: 255, note: .held,
                verdict: .held, holds: true,
                sentence: "Its next line counts as the echo of a push, and goes out whatever it says."),
            Case(
                testDescription: "held, and pushed before", state: .held, note: .held, isNoteNew: false, verdict: .held,
                holds: true, sentence: "that was before this cursor, which has seen what came of it."),
            Case(
                testDescription: "deleted", state: .tombstone, verdict: .deleted, holds: false,
                sentence: "its deletion went out with the cursor 10 (1970-01-01T00:00:00Z), at 1970-01-01T00:00:09Z."),
            Case(
                testDescription: "deleted, by an answer under way", state: .tombstone, cursor: 30, verdict: .deleted,
                sentence: "Its deletion went out with the cursor 30"),
            Case(
                testDescription: "seen", state: .seen, verdict: .pushed,
                sentence: "it has never come from the backend: absence does not delete it."),
            Case(
                testDescription: "pushed only", note: .seen, verdict: .pushed,
                sentence: "It has never come from the backend, but a push has named it."),
            Case(
                testDescription: "in quarantine", isQuarantined: true, verdict: .absent, holds: false,
                sentence: "A line of it is in quarantine (record.not_an_object): it came 3 times, first at"),
            Case(
                testDescription: "never streamed", verdict: .absent, holds: false,
                sentence:
                    "Nothing of it ever went out to this device, as far as the ledger goes back: no line of it was"),
            Case(
                testDescription: "was not there", state: .unknown, verdict: .absent, holds: false,
                sentence:
                    "Nothing of it ever went out to this device, as far as the ledger goes back: no line of it was"),
            Case(
                testDescription: "without ledger", hasLedger: false, verdict: .unknown,
                sentence: "The replica has no ledger yet: its next pull makes one."),
        ]
    }

    private func finding(of example: Case) throws -> RecordFinding {
        var finding = RecordFinding(
            cursor: Cursor(rawValue: 30), confirmed: Cursor(rawValue: 20), hasLedger: example.hasLedger,
            isExact: example.isExact)
        if let state = example.state {
            let entry = LedgerEntry(
                id: "t", hash: .first, state: state, content: example.content, feeds: example.feeds, goneAt: 9_999)
            finding.sights = [.init(origin: .cursor(try #require(Cursor(rawValue: example.cursor))), entry: entry)]
        }
        finding.note = example.note.map { PushNote(table: "tasks", id: "t", state: $0) }
        finding.isNoteNew = example.note != nil && example.isNoteNew
        if example.isQuarantined {
            let line = QuarantinedLine(reason: .notARecord, table: "tasks", id: "t")
            finding.quarantined = [
                QuarantineEntry(id: 1, line: line, principal: StateFixture.bob, count: 3, firstSeen: 0, lastSeen: 1)
            ]
            finding.unreadable = 2
        }
        return finding
    }

    @Test(arguments: Case.all)
    func `what was found is put into words, and never called certain where it is not`(example: Case) throws {
        var table = Table(name: "tasks")
        table.feeds = ["TasksV1", "SharedTasksV1"].map { .init(versions: [.init(requestType: $0)]) }
        let row = ReplicaRow(
            id: StateFixture.phone, principal: StateFixture.alice, isConfirmed: true, firstSeen: 0, lastSeen: 0,
            lastResult: "", newest: nil, schemaVersion: nil)
        let report = WhyReport(row: row, table: table, id: "t", finding: try finding(of: example))
        #expect(report.verdict == example.verdict)
        #expect(report.holds == example.holds)
        #expect(report.sentences.contains { $0.contains(example.sentence) }, "\(report.sentences)")
        #expect(report.sentences.allSatisfy { $0.hasSuffix(".") })
        let json = report.json
        #expect(json["verdict"]?.string == example.verdict.rawValue)
        #expect(json["holds"]?.bool == example.holds)
        #expect(json["pending"]?.bool == (example.cursor == 30))
    }
}
