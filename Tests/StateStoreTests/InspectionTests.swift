// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel
import Testing

/// What only operators ask, for all kinds of stores.
@Suite struct InspectionTests {
    @Test(arguments: StateBacking.all)
    func `principals are found by the first digits of their digests`(backing: StateBacking) async throws {
        try await backing { store in
            let store = try #require(store as? any InspectableStore)
            let digests = ["0a", "a11ce", "a11cf", "a2", "ff", "fff"]
            for (number, digest) in digests.enumerated() {
                let principal = Principal(rawValue: digest)
                try await store.begin(row(Int64(number + 1), of: principal, replica: Int64(number + 1)))
            }
            func found(_ digits: String, limit: Int = 9) async throws -> [String] {
                try await store.principals(beginningWith: digits, limit: limit).map(\.rawValue)
            }
            #expect(try await found("a1") == ["a11ce", "a11cf"])
            #expect(try await found("a") == ["a11ce", "a11cf", "a2"])
            #expect(try await found("ff") == ["ff", "fff"])
            #expect(try await found("a11ce") == ["a11ce"])
            #expect(try await found("a11ce0").isEmpty)
            #expect(try await found("a", limit: 2) == ["a11ce", "a11cf"])
            #expect(try await found("a", limit: -1).isEmpty)
            for digits in ["", "a\u{0}"] {
                await #expect(throws: StateError.invalid("principal")) { _ = try await found(digits) }
            }
        }
    }

    @Test(arguments: StateBacking.all)
    func `a ledger without layers has no cursors`(backing: StateBacking) async throws {
        try await backing { store in
            let store = try #require(store as? any InspectableStore)
            let replica = ReplicaID(rawValue: 1)
            let none = try await store.cursors(of: LedgerOutline(replica: replica))
            #expect(none.isEmpty)
            let gone = LedgerOutline(
                replica: replica, base: LayerID(rawValue: 3), deltas: [LayerID(rawValue: 4)],
                undos: [LayerID(rawValue: 5)])
            #expect(try await store.cursors(of: gone).isEmpty)
        }
    }
}
