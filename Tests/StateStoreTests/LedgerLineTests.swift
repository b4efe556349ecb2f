// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct LedgerLineTests {
    @Test(.eachStore)
    func `a replica's first layer is its base and later ones lie over it, the newest first`() async throws {
        try await store.begin(row(100), ones(1...5))
        let first = try await store.outline(100)
        #expect(first.deltas.isEmpty && first.undos.isEmpty && first.isExact && first.deltaChunks == 0)
        try await store.proceed(row(200, parent: 100), [2: 2, 9: 2])
        try await store.proceed(row(300, parent: 200), [2: 3])
        let third = try await store.outline(300)
        #expect(third.base == first.base && third.isExact)
        #expect(third.deltas.count == 2 && third.deltaChunks == 2)
        #expect(try await store.view(100) == ones(1...5))
        #expect(try await store.view(200) == [1: 1, 2: 2, 3: 1, 4: 1, 5: 1, 9: 2])
        #expect(try await store.view(300) == [1: 1, 2: 3, 3: 1, 4: 1, 5: 1, 9: 2])
        #expect(try await store.context(300, of: bob).ledger == nil)
        let context = try await store.context()
        #expect(context.ledger == nil && context.hasLedgers)
    }

    @Test(.eachStore)
    func `a pull that changes nothing has no layer, and an empty first one has a base`() async throws {
        try await store.begin(row(100), [:])
        let first = try await store.outline(100)
        #expect(first.base != nil && first.isExact)
        for value: Int64 in 101...150 { try await store.proceed(row(value, parent: value - 1), [:]) }
        #expect(try await store.outline(150).layers.count == 1)
        try await store.proceed(row(151, parent: 150), [1: 1])
        let staged = try await store.stageLayer(at: now)
        try await store.proceed(row(152, parent: 151), .staged(staged, counts: [:]))
        #expect(try await store.outline(152) == store.outline(151))
        #expect(try await store.view(152) == [1: 1])
    }

    @Test(.eachStore) func `siblings do not see each other's layers`() async throws {
        try await store.begin(row(100), [1: 1])
        try await store.proceed(row(200, parent: 100), [2: 2])
        try await store.proceed(row(201, parent: 100), [3: 3])
        #expect(try await store.view(200) == [1: 1, 2: 2])
        #expect(try await store.view(201) == [1: 1, 3: 3])
        try await store.proceed(row(300, parent: 201), [4: 4])
        // Also when the other one has gone on and is compacted, as the device may still come with this one.
        let outline = try await store.outline(300)
        try await store.confirm(300)
        try await store.compact(outline, [300, 201], finished: 300)
        #expect(try await store.view(200) == [1: 1, 2: 2])
        #expect(try await store.outline(200).isExact)
        #expect(try await store.view(300) == [1: 1, 3: 3, 4: 4])
    }

    @Test(.eachStore)
    func `a replica from before the ledger gets its base with the next pull and is exact from there on`() async throws {
        try await store.begin(row(100))
        #expect(try await store.outline(100) == LedgerOutline(replica: ReplicaID(rawValue: 1)))
        #expect(try await !store.context(100).hasLedgers)
        try await store.proceed(row(200, parent: 100), [1: 1, 2: 1])
        // The answer was lost: the device comes with the old cursor, of which nothing is known exactly.
        let again = try await store.outline(100)
        #expect(!again.isExact)
        #expect(try await store.view(again) == [1: 1, 2: 1])
        try await store.proceed(row(201, parent: 100), [2: 2, 3: 2])
        #expect(try await store.outline(201).isExact)
        #expect(try await store.view(201) == [1: 1, 2: 2, 3: 2])
        try await store.proceed(row(300, parent: 201), [4: 3])
        try await store.confirm(300)
        try await store.compact(store.outline(300), [300, 201], finished: 300)
        #expect(try await store.view(300) == [1: 1, 2: 2, 3: 2, 4: 3])
        #expect(try await store.view(200) == [1: 1, 2: 1])
        #expect(try await store.outline(200).isExact)
    }

    @Test(.eachStore) func `the operator sees the ledgers of a principal and of one replica`() async throws {
        func atTip(_ replica: Int64) async throws -> LedgerOutline? {
            try await store.read(alice) { account in
                try account.replica(ReplicaID(rawValue: replica)).map { $0.outline(at: $0.tip ?? $0.newest) }
            }
        }
        try await store.begin(row(100), ones(1...2))
        try await store.proceed(row(200, parent: 100), [3: 2])
        try await store.begin(row(300, replica: 2))
        try await store.begin(row(400, replica: 3, parent: 100), [7: 7])
        let all = try await store.ledgers()
        // The device may hold what has come back last, or already what was made from that.
        #expect(all.map(\.replica.rawValue) == [1, 1, 3])
        #expect(try await store.view(all[0]) == ones(1...2))
        #expect(try await store.view(all[1]) == [1: 1, 2: 1, 3: 2])
        #expect(try await store.ledgers(of: bob).isEmpty)
        // The tip is the parent here.
        #expect(try await store.view(#require(try await atTip(1))) == ones(1...2))
        #expect(try await atTip(2) == LedgerOutline(replica: ReplicaID(rawValue: 2)))
        #expect(try await atTip(9) == nil)
        let rows = try await store.replicas()
        #expect(rows.map(\.ledger) == [TestLedger.count(ones(1...2)), [:], TestLedger.count([7: 7])])
        #expect(rows.map(\.ledgerBytes) == [6, 0, 2])
    }
}
