// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncMachines
import SyncModel
import Testing

/// Pulls of principals whose records get their ids from the backend.
@Suite struct PullIDsTests {
    typealias Book = PullPlaybook

    /// An event while ids are awaited, or with the commit, and what follows.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var startOvers = 0
        var isCommitting = false
        let event: PullEvent
        let action: PullAction
    }

    private static func schema() -> Schema {
        var schema = Book.schema
        schema.tables[0].isIDFromBackend = true
        return schema
    }

    /// Plays a pull up to the wait for ids.
    private static func waiting(startOvers: Int = 0) throws -> Book {
        var pull = Book(presented: 1_000, schema: schema(), startOvers: startOvers)
        pull.send(.context(Book.context(try Book.row())))
        let received = CheckpointVector(["SyncCompleteV1": "SyncCompleteV1|20"])
        pull.send(.streamEnded(StreamReport(end: .complete, received: received, carriedData: true)))
        if pull.action == .listCheckpoints { pull.send(.listed(CheckpointVector())) }
        pull.send(.clock(5_000), expect: .awaitIDs)
        return pull
    }

    private static func isCommit(_ action: PullAction) -> Bool { if case .commit = action { true } else { false } }

    @Test func `a cursor is committed when no ids are being given any more`() throws {
        var pull = try Self.waiting()
        #expect(Self.isCommit(pull.send(.done)))
    }

    @Test func `a pull of tables with the client's ids waits for nothing`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        _ = try pull.finish()
    }

    static let rows = [
        Row(testDescription: "ids in the wait", event: .idsChanged, action: .startOver),
        Row(testDescription: "ids with the commit", isCommitting: true, event: .idsChanged, action: .startOver),
        Row(testDescription: "ids in the second attempt", startOvers: 1, event: .idsChanged, action: .startOver),
        Row(testDescription: "ids in the last attempt", startOvers: 2, event: .idsChanged, action: .fail(.idsChanged)),
        Row(
            testDescription: "ids with the last commit", startOvers: 2, isCommitting: true, event: .idsChanged,
            action: .fail(.idsChanged)),
        Row(testDescription: "ids that do not become known", event: .idsUnknown, action: .fail(.idsUnknown)),
        Row(
            testDescription: "an end of waiting that nothing waits for", isCommitting: true, event: .idsUnknown,
            action: .fail(.unexpectedEvent)),
    ]

    @Test(arguments: rows)
    func `a pull during which ids became known starts over, twice at the most`(_ row: Row) throws {
        var pull = try Self.waiting(startOvers: row.startOvers)
        if row.isCommitting { pull.send(.done) }
        pull.send(row.event, expect: row.action)
    }

    @Test func `a cursor that was taken waits for ids again`() throws {
        var pull = try Self.waiting()
        pull.send(.done)
        pull.send(.cursorTaken(newest: try #require(Cursor(rawValue: 5_000))), expect: .readClock)
        pull.send(.clock(5_001), expect: .awaitIDs)
    }
}
