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

    @Test(.eachStore) func `what was refused last of a record is kept, and how often`() async throws {
        func entry(_ table: String) async throws -> RefusalEntry? {
            let key = PushedRecordKey(table: table, id: "a")
            return try await store.read(alice) { try RefusalRules.refusal(of: key, in: &$0) }
        }
        try await store.refuse([Self.operation("a")])
        #expect(try await store.refused().isEmpty, "nothing is kept of a principal whom the state does not know")
        try await store.markAccepted()
        try await store.refuse([Self.operation("a")])
        try await store.refuse([Self.operation("a", status: 400), Self.operation("b")], at: now + 5)
        let found = try #require(try await entry("tasks"))
        #expect(found.operation == Self.operation("a", status: 400))
        #expect(found.count == 2 && found.firstAt == now && found.lastAt == now + 5)
        #expect(try await store.refused() == ["a", "b"])
        #expect(try await store.refused(of: bob).isEmpty)
        #expect(try await entry("tags") == nil)
    }

    @Test(.eachStore(.with { $0.refusalsPerPrincipal = 3 }))
    func `the newest of a principal are kept, for 30 days`() async throws {
        try await store.markAccepted()
        for number in 0..<5 { try await store.refuse([Self.operation("n-\(number)")], at: now + Int64(number)) }
        #expect(try await store.refused() == ["n-4", "n-3", "n-2"])
        var retention = Retention(now: now, seenBefore: 0)
        retention.journalsBefore = now + 4
        _ = try await store.collect(retention)
        #expect(try await store.refused() == ["n-4"])
    }
}

extension Accounts {
    fileprivate func refuse(_ operations: [RefusedOperation], at time: Instant = now) async throws {
        try await change(alice) { try RefusalRules.note(operations, replica: nil, result: "r", at: time, in: &$0) }
    }

    /// The records of the newest refusals.
    fileprivate func refused(of principal: Principal = alice) async throws -> [String] {
        try await read(principal) { try RefusalRules.newest(9, in: &$0) }.map(\.operation.key.id)
    }
}
