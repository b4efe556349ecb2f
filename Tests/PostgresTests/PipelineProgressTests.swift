// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Postgres

struct PipelineProgressTests {
    /// An answer of the server.
    enum Event {
        case done(String)
        case refused(PostgresError, isFatal: Bool)
    }

    /// What the server has answered when the connection ends, and what that means.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var mode = PostgresMode.readWrite
        var commits = true
        let events: [Event]
        let isCommitted: Bool?
    }

    private static let lost = PostgresError.connectionLost("it ended")
    private static let stopping = PostgresError.shuttingDown("it stops")

    static let cases = [
        Case(testDescription: "no answer", events: [], isCommitted: nil),
        Case(
            testDescription: "an answer to the statement alone", events: [.done("BEGIN"), .done("X")], isCommitted: nil),
        Case(
            testDescription: "all answers", events: [.done("BEGIN"), .done("X"), .done("COMMIT")], isCommitted: true),
        Case(
            testDescription: "a refused statement",
            events: [.done("BEGIN"), .refused(.timeout(.lock), isFatal: false)], isCommitted: false),
        Case(
            testDescription: "a refused COMMIT",
            events: [.done("BEGIN"), .done("X"), .refused(.constraint(name: "c", state: "23505"), isFatal: false)],
            isCommitted: false),
        Case(
            testDescription: "a ROLLBACK in answer to COMMIT",
            events: [.done("BEGIN"), .done("X"), .done("ROLLBACK")], isCommitted: false),
        Case(
            testDescription: "a server that stops during the statement",
            events: [.done("BEGIN"), .refused(stopping, isFatal: true)], isCommitted: false),
        Case(
            testDescription: "a server that stops during COMMIT",
            events: [.done("BEGIN"), .done("X"), .refused(stopping, isFatal: true)], isCommitted: nil),
        Case(
            testDescription: "a server that stops after COMMIT",
            events: [.done("BEGIN"), .done("X"), .done("COMMIT"), .refused(stopping, isFatal: true)],
            isCommitted: true),
        Case(
            testDescription: "a pooler that has lost the server",
            events: [.refused(lost, isFatal: true)], isCommitted: nil),
        Case(testDescription: "no answer, and no COMMIT", commits: false, events: [], isCommitted: false),
        Case(testDescription: "no answer to a read", mode: .readOnly, events: [], isCommitted: false),
    ]

    @Test(arguments: cases)
    func `a write is unknown only while COMMIT may have arrived`(example: Case) {
        let steps: [PipelineProgress.Step] = [.control, .statement] + (example.commits ? [.commit] : [])
        var progress = PipelineProgress(steps, mode: example.mode, maximumBytes: 100)
        for event in example.events {
            switch event {
            case .done(let tag): progress.complete(tag: tag, count: 1)
            case .refused(let error, let isFatal): progress.refuse(error, isFatal: isFatal)
            }
            progress.advance()
        }
        switch progress.ended(by: Self.lost) {
        case .success: #expect(example.isCommitted == true)
        case .failure(.outcomeUnknown): #expect(example.isCommitted == nil)
        case .failure: #expect(example.isCommitted == false)
        }
    }

    @Test func `only rows of statements are kept, each with its statement`() throws {
        var progress = PipelineProgress(
            [.control, .statement, .statement, .commit], mode: .readOnly, maximumBytes: 500)
        let rows = (1...4).map { PostgresRow(values: [.integer($0)]) }
        try progress.take(rows[0], bytes: 8)
        progress.complete(tag: "SELECT 1", count: 1)
        progress.advance()
        progress.complete(tag: "INSERT 0 3", count: 3)
        progress.advance()
        try progress.take(rows[2], bytes: 8)
        try progress.take(rows[3], bytes: 8)
        progress.complete(tag: "SELECT 2", count: 2)
        progress.advance()
        progress.complete(tag: "COMMIT", count: 0)
        progress.advance()
        #expect(try progress.finish().get() == [.init(rows: [], count: 3), .init(rows: [rows[2], rows[3]], count: 2)])
    }

    @Test func `answers that end too early are a lost connection, and an unknown outcome of a write`() {
        for mode in [PostgresMode.readOnly, .readWrite] {
            var progress = PipelineProgress([.control, .statement, .commit], mode: mode, maximumBytes: 500)
            progress.complete(tag: "BEGIN", count: 0)
            progress.advance()
            switch progress.finish() {
            case .failure(.connectionLost): #expect(mode == .readOnly)
            case .failure(.outcomeUnknown): #expect(mode == .readWrite)
            case let other: Issue.record("\(other)")
            }
        }
    }

    @Test func `rows of all statements together have a limit, even without values`() throws {
        var progress = PipelineProgress([.statement, .statement], mode: .readOnly, maximumBytes: 200)
        let row = PostgresRow(values: [])
        try progress.take(row, bytes: 0)
        progress.complete(tag: "SELECT 1", count: 1)
        progress.advance()
        try progress.take(row, bytes: 0)
        try progress.take(row, bytes: 0)
        #expect(throws: PostgresError.resultTooLarge(limit: 200)) { try progress.take(row, bytes: 0) }
    }
}
