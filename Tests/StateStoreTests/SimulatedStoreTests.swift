// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GatewayTesting
import MemoryState
import NIOConcurrencyHelpers
import StateStore
import Testing

/// The real gateway in random schedules: what it asks of the dictionary and changes there, each store of bytes is asked
/// and changes too, and has to answer the same.
@Suite struct SimulatedStoreTests {
    private static let seeds = ProcessInfo.processInfo.environment["RIND_TEST_STORE_SEEDS"].flatMap(UInt64.init) ?? 2

    @Test(.eachByteStore) func `whatever gateways ask and change, every store answers as the dictionary does`()
        async throws
    {
        var count = 0
        for seed in 0..<Self.seeds {
            let recorded = NIOLockedValueBox<[Recorded]>([])
            var campaign = SimulationCampaign()
            campaign.sharesState = seed % 2 == 1
            campaign.witness = { bytes in
                let copy = bytes.copy()
                recorded.withLockedValue { $0.append(.beginning(copy)) }
                return { call in recorded.withLockedValue { $0.append(.call(call)) } }
            }
            _ = try await campaign.run(seed: seed)
            let calls = recorded.withLockedValue(\.self)
            #expect(calls.count > 20)
            count += calls.count
            for call in calls { try await call.replay(in: store.store, "seed \(seed)") }
        }
        // Some courses are short.
        #expect(count > 100 * Int(Self.seeds))
    }
}

/// What the dictionary has seen.
private enum Recorded: Sendable {
    /// A state begins with these rows.
    case beginning(MemoryBytes)
    case call(MemoryBytes.Call)

    func replay(in store: any ByteStore, _ comment: Comment) async throws {
        switch self {
        case .beginning(let bytes): try await store.replaceAll(with: bytes)
        case .call(.load(let lookups, let expected)):
            let found = try await zip(lookups, store.load(lookups)).map { lookup, rows in
                // A store may add the pages of a head.
                guard case .replica = lookup else { return rows }
                return rows.filter { $0.key.kind != .recent }
            }
            try #require(found == expected, comment)
        case .call(.chunks(let numbers, let expected)):
            let found = try await store.chunks(numbers)
            try #require(found == expected, comment)
        case .call(.commit(let group, let outcomes)):
            // Leases stay in the dictionary: they are by its time.
            let made = zip(group, outcomes).filter { $0.1 != .leaseLost }
            let changes = made.map { changes, _ in
                var changes = changes
                changes.lease = nil
                return changes
            }
            let found = try await store.commit(changes)
            try #require(found == made.map(\.1), comment)
        }
    }
}

extension ByteStore {
    /// Deletes all rows, and adds those of another store.
    fileprivate func replaceAll(with other: any ByteStore) async throws {
        for table in ByteTableName.allCases {
            while case let rows = try await page(of: table, after: nil, limit: 500), !rows.isEmpty {
                try await put(rows, in: table, deletes: true)
            }
            try await put(other.page(of: table, after: nil, limit: .max), in: table, deletes: false)
        }
    }

    private func put(_ rows: [ByteRow], in table: ByteTableName, deletes: Bool) async throws {
        var changes = RowChanges()
        for row in rows {
            switch (table, deletes) {
            case (.chunk, false): changes.chunks[row.number] = row.bytes
            case (.chunk, true): changes.freedChunks.append(row.number)
            default: changes.rows.updateValue(deletes ? nil : row, forKey: row.key)
            }
        }
        _ = try await commit([changes])
    }
}
