// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// When a creation is given up whose outcome the backend does not tell.
@Suite struct PushRecoveryPatienceTests {
    private typealias Machine = PushRecoveryMachine

    private static func creation(_ index: Int, hasRequest: Bool, canSearch: Bool) -> Machine.Creation {
        Machine.Creation(
            index: index, table: "t\(index)", id: "x\(index)", hasRequest: hasRequest, canSearch: canSearch)
    }

    /// A recovery whose one request the backend has not answered.
    private static func unanswered(canSearch: Bool = false) -> Machine {
        var closing = Machine(Machine.Query([creation(0, hasRequest: true, canSearch: canSearch)]))
        _ = closing.begin()
        _ = closing.handle(.answered(.failed))
        return closing
    }

    @Test func `while the backend answers nothing at all, nothing is counted`() {
        var closing = Self.unanswered()
        #expect(closing.handle(.backendAnswers(false)) == .fail(.unanswered))
    }

    @Test(
        arguments: [
            (.tried(1, over: 0), false), (.tried(2, over: 600_000), false), (.tried(3, over: 299_999), false),
            (.tried(100, over: -1), false), (.tried(3, over: 300_000), true), (.tried(4, over: .max), true),
            (.givenUpBefore, true),
        ] as [(PushRecoveryEvent, Bool)])
    func `a request is given up after three attempts and five minutes, or if it was given up before`(
        _ row: (event: PushRecoveryEvent, isGivenUp: Bool)
    ) {
        var closing = Self.unanswered()
        #expect(closing.handle(.backendAnswers(true)) == .countTry(0))
        #expect(closing.handle(row.event) == (row.isGivenUp ? .giveUp([0]) : .fail(.unanswered)))
        guard row.isGivenUp else { return }
        #expect(closing.handle(.done) == .close(found: [:], lost: [0]))
    }

    @Test func `a creation whose request is given up is still searched for`() {
        var closing = Self.unanswered(canSearch: true)
        #expect(closing.handle(.backendAnswers(true)) == .countTry(0))
        #expect(closing.handle(.givenUpBefore) == .giveUp([0]))
        #expect(closing.handle(.done) == .search([0], fromCursor: false))
        #expect(closing.handle(.found([0: "17"], refused: [])) == .close(found: [0: "17"], lost: []))
    }

    /// A recovery that searches for three creations.
    private static func searching(from cursor: Cursor? = nil) -> Machine {
        var closing = Machine(
            Machine.Query(
                (0..<3).map { creation($0, hasRequest: false, canSearch: true) }, interrupted: cursor))
        #expect(closing.begin() == .search([0, 1, 2], fromCursor: cursor != nil))
        return closing
    }

    @Test func `a stream that cannot go on from the push's cursor is read from its beginning`() {
        var closing = Self.searching(from: Cursor(rawValue: 7))
        #expect(closing.handle(.outOfReach) == .search([0, 1, 2], fromCursor: false))
        #expect(closing.handle(.outOfReach) == .fail(.streamBroken))
    }

    @Test func `a journal stays open while the backend refuses the type of a creation that was not found`() {
        var closing = Self.searching()
        // What was found tells enough, whatever the backend refuses.
        #expect(closing.handle(.found([0: "17"], refused: [0, 1])) == .countTry(1))
        #expect(closing.handle(.tried(1, over: 0)) == .fail(.typesRefused))
    }

    @Test func `creations of refused types are given up together, after enough attempts for each`() {
        var closing = Self.searching()
        #expect(closing.handle(.found([0: "17"], refused: [2, 1])) == .countTry(1))
        #expect(closing.handle(.givenUpBefore) == .countTry(2))
        #expect(closing.handle(.tried(3, over: 300_000)) == .giveUp([1, 2]))
        #expect(closing.handle(.done) == .close(found: [0: "17"], lost: [1, 2]))
    }

    @Test func `one creation that may still be found keeps the others from being given up`() {
        var closing = Self.searching()
        #expect(closing.handle(.found([:], refused: [0, 1])) == .countTry(0))
        #expect(closing.handle(.tried(3, over: 300_000)) == .countTry(1))
        #expect(closing.handle(.tried(4, over: 299_999)) == .fail(.typesRefused))
    }
}

/// How it is chosen what can be done about a creation.
@Suite struct PushRecoveryMeansTests {
    private typealias Machine = PushRecoveryMachine

    @Test(
        arguments: [
            (PushRecoveryMachine.InferredState.unknown, true, true, .repetition(thenSearch: true)),
            (.unknown, true, false, .repetition(thenSearch: false)), (.unknown, false, true, .search),
            (.deleted, true, true, .search), (.deleted, false, true, .search), (.gone, true, true, .search),
            // It may be there already, and only so the deletion finds it.
            (.deleted, true, false, .repetition(thenSearch: false)), (.gone, true, false, .none),
            (.deleted, false, false, .none),
        ] as [(PushRecoveryMachine.InferredState, Bool, Bool, PushRecoveryMachine.Means)])
    func `what its device has no more is looked for, and carried out only for a deletion to find it`(
        _ row: (
            inferred: PushRecoveryMachine.InferredState, canRepeat: Bool, canSearch: Bool,
            means: PushRecoveryMachine.Means
        )
    ) {
        #expect(
            PushRecoveryMachine.Means(canRepeat: row.canRepeat, canSearch: row.canSearch, inferred: row.inferred)
                == row.means
        )
    }

    private static let creation = Machine.Creation(
        index: 0, table: "tasks", id: "x", hasRequest: true, canSearch: false)

    @Test(
        arguments: [
            (0, .repetition(thenSearch: false)), (999, .repetition(thenSearch: false)), (1_000, .none), (.max, .none),
            // The age of a journal from the future is unknown.
            (-1, .none), (.min, .none),
        ] as [(Int64, PushRecoveryMachine.Means)])
    func `a request is repeated only while the backend knows its key`(
        _ row: (age: Int64, means: PushRecoveryMachine.Means)
    ) {
        #expect(Machine.Query([Self.creation], age: row.age, keyLife: 1_000).means(of: Self.creation) == row.means)
    }

    private static func table(_ name: String, deleted: [String] = [], created: [String] = []) -> PushedTable {
        var table = PushedTable(name: name, deleted: deleted)
        table.created = created.map { PushedRecord(id: $0, range: 0..<1) }
        return table
    }

    @Test(
        arguments: [
            (7, [table("tasks", created: ["x"])], .unknown), (7, [table("tasks", deleted: ["x"])], .deleted),
            (7, [table("tasks", deleted: ["y"], created: ["z"])], .gone),
            // A push without the record's table does not tell, nor does another device's.
            (7, [table("tags", deleted: ["x"])], .unknown), (8, [table("tasks", deleted: ["x"])], .unknown),
            (nil, [table("tasks", deleted: ["x"])], .unknown),
        ] as [(Int64?, [PushedTable], PushRecoveryMachine.InferredState)])
    func `a push tells what its device has if it comes with the cursor of the interrupted one`(
        _ row: (time: Int64?, tables: [PushedTable], inferred: PushRecoveryMachine.InferredState)
    ) {
        let push = Machine.Push(time: row.time, tables: row.tables)
        let query = Machine.Query([Self.creation], interrupted: Cursor(rawValue: 7), push: push)
        #expect(query.inferred(Self.creation) == row.inferred)
        #expect(Machine.Query([Self.creation], interrupted: Cursor(rawValue: 7)).inferred(Self.creation) == .unknown)
        #expect(Machine.Query([Self.creation], push: push).inferred(Self.creation) == .unknown)
    }
}
