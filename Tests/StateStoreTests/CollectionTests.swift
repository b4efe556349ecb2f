// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct CollectionTests {
    private static let day: Int64 = 86_400_000

    @Test(arguments: StateBacking.all)
    func `the newest cursors of a replica that is still seen stay however old they are`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            for (value, parent) in [(1, nil), (2, 1), (3, 2), (4, 3)] as [(Int64, Int64?)] {
                let row = try row(value, parent: parent, vector: ["a": "\(value)"])
                try await value == 1 ? store.begin(row) : store.proceed(row)
                if value < 4 {
                    try await store.change(alice) { try ReplicaRules.confirm(cursor(value), at: now, in: &$0) }
                }
            }
            let collected = try await store.collect(
                Retention(now: now, seenBefore: now - Self.day, supersededBefore: now - Self.day))
            #expect(collected.cursors == 2)
            #expect(try await store.context(1).row == nil)
            #expect(try await store.context(2).row == nil)
            // 3 is what the device has, 4 what it may have got.
            #expect(try await store.context(3).row?.vector["a"] == "3")
            #expect(try await store.context(4).row?.vector["a"] == "4")
            #expect(try await store.context(4).newest?.rawValue == 4)
            #expect(try await store.collect(Retention(now: now, seenBefore: now - Self.day)).isEmpty)
        }
    }

    @Test(arguments: StateBacking.all)
    func `who was not seen for long goes with everything and the newest integer stays taken`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            try await store.begin(row(500), at: now - 9 * Self.day)
            try await store.change(alice) {
                try SessionRules.setPosition(
                    .at(CheckpointVector(["x": "y"])), of: tablet, at: now - 9 * Self.day, in: &$0)
            }
            try await store.change(alice) {
                try ReceiptRules.save(
                    .init(
                        receipt: Receipt(status: 200, contentType: "a/b", body: []), digest: "d",
                        expiresAt: now - 8 * Self.day), at: now - 9 * Self.day, in: &$0)
            }
            try await store.begin(row(400, of: bob, replica: 2), at: now)
            let collected = try await store.collect(Retention(now: now, seenBefore: now - Self.day))
            #expect(collected.replicas == 1)
            #expect(collected.sessions == 2)
            #expect(collected.receipts == 1)
            #expect(collected.principals == 1)
            #expect(try await store.context(500) == StoredPullContext())
            #expect(try await store.context(400, of: bob).row != nil)
            #expect(try await store.newestCursor()?.rawValue == 500)
        }
    }

    @Test(arguments: StateBacking.all)
    func `a vector stays while any cursor or session names it`(backing: StateBacking) async throws {
        try await backing { store in
            let shared = ["a": "shared"]
            try await store.begin(row(1, vector: shared))
            try await store.begin(row(2, of: bob, replica: 2, vector: shared), at: now)
            try await store.change(bob) {
                try SessionRules.setPosition(.at(CheckpointVector(shared)), of: phone, at: now, in: &$0)
            }
            try await store.change(bob) { try SessionRules.setPosition(.unknown, of: phone, at: now, in: &$0) }
            #expect(try await store.context(1).row?.vector["a"] == "shared")
            try await store.proceed(row(3, parent: 1))
            try await store.change(alice) { try ReplicaRules.confirm(cursor(3), at: now, in: &$0) }
            _ = try await store.collect(Retention(now: now, seenBefore: 0, supersededBefore: now))
            #expect(try await store.context(2, of: bob).row?.vector["a"] == "shared")
        }
    }

    @Test(arguments: StateBacking.all)
    func `a collection in small transactions takes as much as one in a large one`(
        backing: StateBacking
    ) async throws {
        var limits = StateLimits()
        limits.collectBatch = 3
        try await backing(limits) { store in
            for value: Int64 in 1...10 {
                let row = try row(value, parent: value > 1 ? value - 1 : nil, vector: ["a": "\(value)"])
                try await value == 1 ? store.begin(row) : store.proceed(row)
            }
            try await store.change(alice) { try ReplicaRules.confirm(cursor(10), at: now, in: &$0) }
            #expect(try await store.collect(Retention(now: now, seenBefore: 0, supersededBefore: now)).cursors == 9)
            #expect(try await store.context(10).row != nil)
        }
    }
}
