// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct ReceiptTests {
    private static let receipt = Receipt(status: 200, contentType: "application/json", body: Array("{}".utf8))

    private static func save(
        _ digest: String, in store: Accounts, of principal: Principal = alice, at time: Instant = now
    ) async throws {
        try await store.change(principal) {
            try ReceiptRules.save(.init(receipt: receipt, digest: digest, expiresAt: time + 120_000), at: time, in: &$0)
        }
    }

    @Test(arguments: StateBacking.all)
    func `a receipt answers the same push of the same principal within its time`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            try await Self.save("d1", in: store)
            #expect(
                try await store.read(alice) { try ReceiptRules.receipt("d1", at: now + 119_999, of: &$0) }
                    == Self.receipt)
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d1", at: now + 120_000, of: &$0) } == nil)
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d1", at: now - 1, of: &$0) } == nil)
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d2", at: now, of: &$0) } == nil)
            #expect(try await store.read(bob) { try ReceiptRules.receipt("d1", at: now, of: &$0) } == nil)
        }
    }

    @Test(arguments: StateBacking.all)
    func `an answered pull of the principal ends its receipts`(backing: StateBacking) async throws {
        try await backing { store in
            try await Self.save("d1", in: store)
            try await Self.save("d1", in: store, of: bob)
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d1", at: now, of: &$0) } == Self.receipt)
            try await store.begin(row(100))
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d1", at: now, of: &$0) } == nil)
            #expect(try await store.read(bob) { try ReceiptRules.receipt("d1", at: now, of: &$0) } == Self.receipt)
            try await store.change(bob) { try ReceiptRules.drop(in: &$0) }
            #expect(try await store.read(bob) { try ReceiptRules.receipt("d1", at: now, of: &$0) } == nil)
            try await store.change(Principal(rawValue: "nobody")) { try ReceiptRules.drop(in: &$0) }
        }
    }

    @Test(arguments: StateBacking.all)
    func `a refused pull leaves the receipts`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(100))
            try await Self.save("d1", in: store)
            await #expect(throws: StateError.self) { try await store.proceed(row(100)) }
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d1", at: now, of: &$0) } == Self.receipt)
        }
    }

    @Test(arguments: StateBacking.all)
    func `the same push again replaces its receipt and the oldest of many go`(backing: StateBacking) async throws {
        var limits = StateLimits()
        limits.receiptsPerPrincipal = 3
        try await backing(limits) { store in
            for digest in ["d1", "d2", "d3", "d1", "d4"] { try await Self.save(digest, in: store) }
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d2", at: now, of: &$0) } == nil)
            for digest in ["d1", "d3", "d4"] {
                #expect(
                    try await store.read(alice) { try ReceiptRules.receipt(digest, at: now, of: &$0) } == Self.receipt)
            }
        }
    }

    @Test(arguments: StateBacking.all)
    func `a body over the limit gets no receipt`(backing: StateBacking) async throws {
        var limits = StateLimits()
        limits.receiptBytes = 1
        try await backing(limits) { store in
            await #expect(throws: StateError.tooLarge("answer of the push")) { try await Self.save("d1", in: store) }
        }
    }
}
