// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import SQLiteState
import StateStore
import SyncModel
import Testing

/// Pushed records that the backend has refused.
@Suite struct PushQuarantineTests {
    private static func push(
        _ id: String, _ kind: OperationKind = .create, _ body: String = "{}", table: String = "tasks",
        reason: QuarantinedOperation.Reason = QuarantinedOperation.Reason(
            code: "push.rejected", status: 422, message: "no")
    ) -> QuarantinedOperation {
        QuarantinedOperation(
            key: PushedRecordKey(table: table, id: id), kind: kind, body: kind == .delete ? [] : Array(body.utf8),
            reason: reason)
    }

    @Test(arguments: StateBacking.all)
    func `a record is kept as it was sent, and a later push of it takes its place`(backing: StateBacking) async throws {
        try await backing { store in
            let bare = Self.push("b", .delete, reason: QuarantinedOperation.Reason(code: "push.rejected"))
            let ids = try await store.change(alice) {
                try QuarantineRules.add(
                    [Self.push("a", .update, #"{"id":"a","x":1}"#), bare], limit: 9, at: now, in: &$0)
            }
            #expect(ids.count == 2 && ids[0] < ids[1])
            _ = try await store.mark([ids[0]], at: now + 1)
            let marked = try #require(
                try await store.read(alice) { try QuarantineRules.scheduled(limit: 9, of: &$0) }.first)
            #expect(
                marked
                    == QuarantinedPush(
                        id: ids[0], principal: alice, push: Self.push("a", .update, #"{"id":"a","x":1}"#), count: 1,
                        firstAt: now, lastAt: now, markedAt: now + 1))
            #expect(try await store.read(bob) { try QuarantineRules.scheduled(limit: 9, of: &$0) }.isEmpty)
            #expect(try await store.context(of: alice).unfinished.hasScheduledRetries)
            #expect(try await store.context(of: bob).unfinished == UnfinishedPushes())

            let again = try await store.change(alice) {
                try QuarantineRules.add([Self.push("a", .update, #"{"id":"a","x":2}"#)], limit: 9, at: now + 5, in: &$0)
            }
            #expect(again == [ids[0]])
            #expect(try await store.read(alice) { try QuarantineRules.scheduled(limit: 9, of: &$0) }.isEmpty)
            let kinds = try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }
            #expect(kinds == [bare.key: .delete, PushedRecordKey(table: "tasks", id: "a"): .update])
            _ = try await store.mark(nil, of: alice, at: now + 6)
            let all = try await store.read(alice) { try QuarantineRules.scheduled(limit: 9, of: &$0) }
            #expect(all.map(\.push.body) == [Array(#"{"id":"a","x":2}"#.utf8), []])
            #expect(all.map(\.isWhole) == [true, false] && all.map(\.count) == [2, 1])
            #expect(all.map(\.firstAt) == [now, now] && all.map(\.lastAt) == [now + 5, now])
        }
    }

    @Test(arguments: StateBacking.all)
    func `a change of what was never created is still a creation`(backing: StateBacking) async throws {
        try await backing { store in
            for kind: OperationKind in [.create, .update] {
                _ = try await store.change(alice) {
                    try QuarantineRules.add([Self.push("a", kind)], limit: 9, at: now, in: &$0)
                }
            }
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.values.map { $0 } == [.create])
            _ = try await store.change(alice) {
                try QuarantineRules.add([Self.push("a", .delete)], limit: 9, at: now, in: &$0)
            }
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.values.map { $0 } == [.delete])
        }
    }

    @Test(arguments: StateBacking.all)
    func `the quarantine is empty where not all of it has room`(backing: StateBacking) async throws {
        try await backing { store in
            _ = try await store.change(alice) {
                try QuarantineRules.add([Self.push("a"), Self.push("b")], limit: 3, at: now, in: &$0)
            }
            await #expect(throws: StateError.tooLarge("quarantine of a principal's pushes")) {
                _ = try await store.change(alice) {
                    try QuarantineRules.add([Self.push("c"), Self.push("d")], limit: 3, at: now, in: &$0)
                }
            }
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.count == 2)
            // What is there already needs no room, and others have their own.
            _ = try await store.change(alice) {
                try QuarantineRules.add([Self.push("b"), Self.push("c")], limit: 3, at: now, in: &$0)
            }
            _ = try await store.change(bob) { try QuarantineRules.add([Self.push("a")], limit: 1, at: now, in: &$0) }
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.count == 3)
        }
    }

    @Test(arguments: StateBacking.all)
    func `what is refused again loses its mark, and what is taken goes`(backing: StateBacking) async throws {
        try await backing { store in
            let ids = try await store.change(alice) {
                try QuarantineRules.add([Self.push("a"), Self.push("b")], limit: 9, at: now, in: &$0)
            }
            #expect(try await store.mark(nil) == ids)
            try await store.change(alice) {
                try QuarantineRules.refuseAgain(
                    Self.push("a").key, number: ids[0],
                    reason: QuarantinedOperation.Reason(code: "push.conflict", message: "gone"), at: now + 9, in: &$0)
            }
            // No entry, and one that has taken the place of another.
            for (id, number) in [("z", 99), ("b", ids[0])] {
                try await store.change(alice) {
                    try QuarantineRules.refuseAgain(
                        Self.push(id).key, number: number, reason: QuarantinedOperation.Reason(code: "x"), at: now,
                        in: &$0)
                }
            }
            #expect(
                try await store.read(alice) { try QuarantineRules.scheduled(limit: 9, of: &$0) }.map(\.id) == [ids[1]])
            let key = PushedRecordKey(table: "tasks", id: "b")
            try await store.change(bob) { try QuarantineRules.remove([key], in: &$0) }
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.count == 2)
            try await store.change(alice) {
                try QuarantineRules.remove([key, PushedRecordKey(table: "tags", id: "a")], in: &$0)
            }
            #expect(try await store.read(alice) { try QuarantineRules.scheduled(limit: 9, of: &$0) }.isEmpty)
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.count == 1)
        }
    }

    @Test(arguments: StateBacking.all)
    func `ids may be any text, compared byte by byte`(backing: StateBacking) async throws {
        try await backing { store in
            let ids = ["a\u{0}b", "a", "é", "e\u{301}", "a b/c"]
            _ = try await store.change(alice) {
                try QuarantineRules.add(ids.map { Self.push($0) }, limit: 9, at: now, in: &$0)
            }
            let kinds = try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }
            #expect(kinds.count == 5)
            try await store.change(alice) {
                try QuarantineRules.remove([PushedRecordKey(table: "tasks", id: "é")], in: &$0)
            }
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.count == 4)
        }
    }

    @Test(arguments: StateBacking.all)
    func `no collection takes what was quarantined, nor whom it belongs to`(backing: StateBacking) async throws {
        try await backing { store in
            _ = try await store.change(alice) { try QuarantineRules.add([Self.push("a")], limit: 9, at: now, in: &$0) }
            let later = now + 1_000_000_000_000
            let retention = Retention(now: later, seenBefore: later, undoBefore: later)
            #expect(try await store.collect(retention).principals == 0)
            #expect(try await store.read(alice) { try QuarantineRules.kinds(of: &$0) }.count == 1)
            try await store.change(alice) {
                try QuarantineRules.remove([PushedRecordKey(table: "tasks", id: "a")], in: &$0)
            }
            #expect(try await store.collect(retention).principals == 1)
        }
    }

    @Test func `the operator sees pages without bodies, and marks and drops single ones`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                let hers = try await store.change(alice) {
                    try QuarantineRules.add(
                        [Self.push("a", .create, #"{"id":"a"}"#), Self.push("b")], limit: 9, at: now, in: &$0)
                }
                let his = try await store.change(bob) {
                    try QuarantineRules.add([Self.push("a")], limit: 9, at: now, in: &$0)
                }
                #expect(
                    try await store.inspection.quarantinedPushes(of: nil, after: 0, limit: 9).map(\.id) == hers + his)
                #expect(
                    try await store.inspection.quarantinedPushes(of: nil, after: hers[0], limit: 1).map(\.id) == [
                        hers[1]
                    ])
                let page = try await store.inspection.quarantinedPushes(of: alice, after: 0, limit: 9)
                #expect(page.map(\.id) == hers && page.allSatisfy { $0.push.body.isEmpty })
                #expect(try await store.inspection.quarantinedPush(hers[0])?.push.body == Array(#"{"id":"a"}"#.utf8))
                #expect(try await store.inspection.quarantinedPush(99) == nil)
                #expect(try await store.commands.scheduleRetries([his[0], 99], of: nil, at: now) == his)
                #expect(try await store.commands.scheduleRetries(nil, of: Principal(rawValue: "none"), at: now) == [])
                #expect(try await store.commands.dropPushes([hers[0], 99]) == [hers[0]])
                // Numbers are not given again.
                _ = try await store.commands.dropPushes(his)
                let next = try await store.change(bob) {
                    try QuarantineRules.add([Self.push("z")], limit: 9, at: now, in: &$0)
                }
                #expect(next[0] > his[0])
                try await store.check(thoroughly: true)
            }
        }
    }

    @Test func `lines of streams are listed by their numbers, and dropped`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                let lines = ["a/", "b/"].map { QuarantinedLine(reason: .unsafeID, table: "t", id: $0, bytes: [1]) }
                try await store.begin(row(100), at: now, quarantined: lines)
                let entries = try await store.inspection.quarantinedLines(of: nil, after: 0, limit: 9)
                #expect(entries.map(\.line) == lines)
                #expect(try await store.inspection.quarantinedLines(of: bob, after: 0, limit: 9).isEmpty)
                #expect(try await store.inspection.quarantinedLine(entries[1].id) == entries[1])
                #expect(try await store.commands.dropLines([entries[0].id, 99]) == [entries[0].id])
                #expect(try await store.inspection.quarantinedLines(of: alice, after: 0, limit: 9) == [entries[1]])
            }
        }
    }
}

extension Accounts {
    /// Marks entries as the operator's command does, which has a store of its own.
    fileprivate func mark(
        _ ids: [Int64]?, of principal: Principal? = nil, at time: Instant = now
    ) async throws -> [Int64] {
        try await commands.scheduleRetries(ids, of: principal, at: time)
    }
}
