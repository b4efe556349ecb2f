// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import SQLiteState
import SyncModel
import Testing

@testable import StateStore

/// Pushed records that the backend has refused.
@Suite struct PushQuarantineTests {
    private static func push(
        _ id: String, _ kind: OperationKind = .create, _ body: String = "{}",
        reason: QuarantinedOperation.Reason = QuarantinedOperation.Reason(
            code: "push.rejected", status: 422, message: "no")
    ) -> QuarantinedOperation {
        QuarantinedOperation(key: key(id), kind: kind, body: kind == .delete ? [] : Array(body.utf8), reason: reason)
    }

    private static func key(_ id: String) -> PushedRecordKey { PushedRecordKey(table: "tasks", id: id) }

    @Test(.eachStore) func `a record is kept as it was sent, and a later push of it takes its place`() async throws {
        let first = Self.push("a", .update, #"{"id":"a","x":1}"#)
        let bare = Self.push("b", .delete, reason: QuarantinedOperation.Reason(code: "push.rejected"))
        let ids = try await store.quarantine([first, bare])
        #expect(ids.count == 2 && ids[0] < ids[1])
        _ = try await store.mark([ids[0]], at: now + 1)
        #expect(
            try await store.scheduled() == [
                QuarantinedPush(
                    id: ids[0], principal: alice, push: first, count: 1, firstAt: now, lastAt: now,
                    markedAt: now + 1)
            ])
        #expect(try await store.scheduled(of: bob).isEmpty)
        #expect(try await store.context(of: alice).unfinished.hasScheduledRetries)
        #expect(try await store.context(of: bob).unfinished == UnfinishedPushes())

        let second = Self.push("a", .update, #"{"id":"a","x":2}"#)
        #expect(try await store.quarantine([second], at: now + 5) == [ids[0]])
        #expect(try await store.scheduled().isEmpty)
        #expect(try await store.kinds() == [bare.key: .delete, first.key: .update])
        _ = try await store.mark(nil, of: alice, at: now + 6)
        let all = try await store.scheduled()
        #expect(all.map(\.push.body) == [second.body, []])
        #expect(all.map(\.isWhole) == [true, false] && all.map(\.count) == [2, 1])
        #expect(all.map(\.firstAt) == [now, now] && all.map(\.lastAt) == [now + 5, now])
    }

    @Test(.eachStore) func `a change of what was never created is still a creation`() async throws {
        for (kind, kept) in [(.create, .create), (.update, .create), (.delete, .delete)] as [Kinds] {
            try await store.quarantine([Self.push("a", kind)])
            #expect(try await store.kinds() == [Self.key("a"): kept])
        }
    }

    private typealias Kinds = (OperationKind, OperationKind)

    @Test(.eachStore) func `the quarantine is empty where not all of it has room`() async throws {
        try await store.quarantine([Self.push("a"), Self.push("b")], limit: 3)
        await #expect(throws: StateError.tooLarge("quarantine of a principal's pushes")) {
            try await store.quarantine([Self.push("c"), Self.push("d")], limit: 3)
        }
        #expect(try await store.kinds().count == 2)
        // What is there already needs no room, and others have their own.
        try await store.quarantine([Self.push("b"), Self.push("c")], limit: 3)
        try await store.quarantine([Self.push("a")], limit: 1, of: bob)
        #expect(try await store.inspection.quarantinedPushCount() == 4)
        #expect(try await store.kinds().count == 3)
    }

    @Test(.eachStore) func `what is refused again loses its mark, and what is taken goes`() async throws {
        func refuseAgain(_ id: String, number: Int64) async throws {
            let reason = QuarantinedOperation.Reason(code: "push.conflict", message: "gone")
            try await store.change(alice) {
                try QuarantineRules.refuseAgain(
                    Self.key(id), number: number, reason: reason, at: now + 9, in: &$0)
            }
        }
        let ids = try await store.quarantine([Self.push("a"), Self.push("b")])
        #expect(try await store.mark(nil) == ids)
        try await refuseAgain("a", number: ids[0])
        // No entry, and one that has taken the place of another.
        try await refuseAgain("z", number: 99)
        try await refuseAgain("b", number: ids[0])
        #expect(try await store.scheduled().map(\.id) == [ids[1]])
        try await store.remove([Self.key("b")], of: bob)
        #expect(try await store.kinds().count == 2)
        try await store.remove([Self.key("b"), PushedRecordKey(table: "tags", id: "a")])
        #expect(try await store.scheduled().isEmpty)
        #expect(try await store.kinds().count == 1)
    }

    @Test(.eachStore) func `ids may be any text, compared byte by byte`() async throws {
        try await store.quarantine(["a\u{0}b", "a", "é", "e\u{301}", "a b/c"].map { Self.push($0) })
        #expect(try await store.kinds().count == 5)
        try await store.remove([Self.key("é")])
        #expect(try await store.kinds().count == 4)
    }

    @Test(.eachStore) func `no collection takes what was quarantined, nor whom it belongs to`() async throws {
        try await store.quarantine([Self.push("a")])
        let later = now + 1_000_000_000_000
        let retention = Retention(now: later, seenBefore: later, undoBefore: later)
        #expect(try await store.collect(retention).principals == 0)
        #expect(try await store.kinds().count == 1)
        try await store.remove([Self.key("a")])
        #expect(try await store.collect(retention).principals == 1)
    }

    @Test func `the operator sees pages without bodies, and marks and drops single ones`() async throws {
        try await withSQLite { store in
            func page(of principal: Principal? = nil, after: Int64 = 0, limit: Int = 9) async throws -> [Int64] {
                let page = try await store.inspection.quarantinedPushes(of: principal, after: after, limit: limit)
                #expect(page.allSatisfy { $0.push.body.isEmpty })
                return page.map(\.id)
            }
            let hers = try await store.quarantine([Self.push("a", .create, #"{"id":"a"}"#), Self.push("b")])
            let his = try await store.quarantine([Self.push("a")], of: bob)
            #expect(try await page() == hers + his)
            #expect(try await page(after: hers[0], limit: 1) == [hers[1]])
            #expect(try await page(of: alice) == hers)
            #expect(try await store.inspection.quarantinedPush(hers[0])?.push.body == Array(#"{"id":"a"}"#.utf8))
            #expect(try await store.inspection.quarantinedPush(99) == nil)
            #expect(try await store.mark([his[0], 99]) == his)
            #expect(try await store.mark(nil, of: Principal(rawValue: "none")) == [])
            #expect(try await store.commands.dropPushes([hers[0], 99]) == [hers[0]])
            // Numbers are not given again.
            _ = try await store.commands.dropPushes(his)
            #expect(try await store.quarantine([Self.push("z")], of: bob)[0] > his[0])
            try await store.check(thoroughly: true)
        }
    }

    @Test(.eachStore(.with { $0.collectBatch = 3 }))
    func `all entries are scheduled, however many they are`() async throws {
        let numbers = try await store.quarantine((1...7).map { Self.push("\($0)") })
        _ = try await store.quarantine([Self.push("z")], of: bob)
        #expect(try await store.mark(nil).count == 8)
        #expect(try await store.scheduled().map(\.id) == numbers)
    }
}

extension Accounts {
    /// Marks entries as the operator's command does, which has a store of its own.
    fileprivate func mark(
        _ ids: [Int64]?, of principal: Principal? = nil, at time: Instant = now
    ) async throws -> [Int64] {
        try await commands.scheduleRetries(ids, of: principal, at: time)
    }

    fileprivate func scheduled(of principal: Principal = alice) async throws -> [QuarantinedPush] {
        try await read(principal) { try QuarantineRules.scheduled(limit: 9, of: &$0) }
    }

    fileprivate func kinds() async throws -> [PushedRecordKey: OperationKind] {
        try await read(alice) { try QuarantineRules.kinds(of: &$0) }
    }

    fileprivate func remove(_ records: [PushedRecordKey], of principal: Principal = alice) async throws {
        try await change(principal) { try QuarantineRules.remove(records, in: &$0) }
    }
}
