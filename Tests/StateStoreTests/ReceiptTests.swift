// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct ReceiptTests {
    @Test(.eachStore) func `a receipt answers the same push of the same principal within its time`() async throws {
        try await store.save(.taken, expiresAt: now + 120_000)
        #expect(try await store.receipt(at: now + 119_999) == .taken)
        #expect(try await store.receipt(at: now + 120_000) == nil)
        #expect(try await store.receipt(at: now - 1) == nil)
        #expect(try await store.receipt("other") == nil)
        #expect(try await store.receipt(of: bob) == nil)
    }

    @Test(.eachStore)
    func `an answered pull of the principal ends its receipts, and a refused one does not`() async throws {
        for principal in [alice, bob] { try await store.save(.taken, of: principal) }
        try await store.begin(row(100))
        #expect(try await store.receipt() == nil)
        #expect(try await store.receipt(of: bob) == .taken)
        try await store.dropReceipts(of: bob)
        #expect(try await store.receipt(of: bob) == nil)
        try await store.dropReceipts(of: Principal(rawValue: "nobody"))
        try await store.save(.taken)
        await #expect(throws: StateError.self) { try await store.proceed(row(100)) }
        #expect(try await store.receipt() == .taken)
    }

    @Test(.eachStore(.with { $0.receiptsPerPrincipal = 3 }))
    func `the same push again replaces its receipt and the oldest of many go`() async throws {
        for digest in ["d1", "d2", "d3", "d1", "d1", "d4"] { try await store.save(.taken, digest: digest) }
        for digest in ["d1", "d2", "d3", "d4"] {
            #expect(try await store.receipt(digest) == (digest == "d2" ? nil : .taken))
        }
    }

    @Test(.eachStore(.with { $0.receiptBytes = 1 })) func `a body over the limit gets no receipt`() async throws {
        await #expect(throws: StateError.tooLarge("answer of the push")) { try await store.save(.taken) }
    }
}
