// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// Operations of pushes that were refused, as operators see them.
@Suite struct RefusalTests {
    private static func operation(_ id: String, status: Int = 422) -> RefusedOperation {
        RefusedOperation(
            key: PushedRecordKey(table: "tasks", id: id), kind: .create, call: "POST /tasks",
            reason: QuarantinedOperation.Reason(code: "push.rejected", status: status, message: "status \(status): no"))
    }

    @Test(arguments: StateBacking.all)
    func `what was refused last of a record is kept, and how often`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.meet(alice)
            try await store.change(alice) {
                try RefusalRules.note([Self.operation("a")], replica: nil, result: "r", at: now, in: &$0)
            }
            try await store.change(alice) {
                try RefusalRules.note(
                    [Self.operation("a", status: 400), Self.operation("b")], replica: nil, result: "r", at: now + 5,
                    in: &$0)
            }
            let entry = try #require(
                try await store.read(alice) {
                    try RefusalRules.refusal(of: PushedRecordKey(table: "tasks", id: "a"), in: &$0)
                })
            #expect(entry.operation == Self.operation("a", status: 400))
            #expect(entry.count == 2 && entry.firstAt == now && entry.lastAt == now + 5)
            #expect(
                try await store.read(alice) { try RefusalRules.newest(9, in: &$0) }.map(\.operation.key.id) == [
                    "a", "b",
                ])
            #expect(try await store.read(bob) { try RefusalRules.newest(9, in: &$0) }.isEmpty)
            #expect(
                try await store.read(alice) {
                    try RefusalRules.refusal(of: PushedRecordKey(table: "tags", id: "a"), in: &$0)
                } == nil)
        }
    }

    @Test(arguments: StateBacking.all)
    func `of a principal whom the state does not know nothing is kept`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.change(alice) {
                try RefusalRules.note([Self.operation("a")], replica: nil, result: "r", at: now, in: &$0)
            }
            #expect(try await store.read(alice) { try RefusalRules.newest(9, in: &$0) }.isEmpty)
        }
    }

    @Test(arguments: StateBacking.all)
    func `the newest of a principal are kept, for 30 days`(backing: StateBacking) async throws {
        var limits = StateLimits()
        limits.refusalsPerPrincipal = 3
        try await backing(limits) { store in
            try await store.meet(alice)
            for number in 0..<5 {
                try await store.change(alice) {
                    try RefusalRules.note(
                        [Self.operation("n-\(number)")], replica: nil, result: "r", at: now + Int64(number), in: &$0)
                }
            }
            #expect(
                try await store.read(alice) { try RefusalRules.newest(9, in: &$0) }.map(\.operation.key.id) == [
                    "n-4", "n-3", "n-2",
                ])
            var retention = Retention(
                now: now, seenBefore: 0, supersededBefore: 0, undoBefore: 0)
            retention.journalsBefore = now + 4
            _ = try await store.collect(retention)
            #expect(
                try await store.read(alice) { try RefusalRules.newest(9, in: &$0) }.map(\.operation.key.id) == ["n-4"])
        }
    }
}

extension Accounts {
    /// Makes the state know a principal.
    fileprivate func meet(_ principal: Principal) async throws {
        try await change(principal) { try SessionRules.markAccepted(phone, at: now, in: &$0) }
    }
}
