// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import SQLiteState
import StateStore
import SyncModel
import Testing

/// Devices of one login, whose pulls and pushes run side by side.
@Suite struct SharedAccountTests {
    private static func note(_ id: String, in store: Accounts) async throws {
        try await store.write([PushNote(table: "t", id: id, state: .held)])
    }

    @Test(.eachStore) func `two pulls and a push of one login come through side by side`() async throws {
        for device: Int64 in [1, 2] { try await store.begin(row(device, replica: device)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device: Int64 in [1, 2] {
                group.addTask {
                    for step: Int64 in 1...15 {
                        let value = device + step * 10
                        try await store.proceed(row(value, replica: device, parent: value - 10))
                    }
                }
            }
            group.addTask { for step in 1...15 { try await Self.note("\(step)", in: store) } }
            try await group.waitForAll()
        }
        #expect(try await store.context(151).row?.replica.rawValue == 1)
        let context = try await store.context(152)
        #expect(context.row?.replica.rawValue == 2 && context.sequence == 15)
    }

    @Test func `a pull that takes long is committed though others of its login commit all the time`() async throws {
        let bytes = MemoryBytes()
        let (own, other) = (Accounts(bytes), Accounts(bytes.shared { _ in }))
        for device: Int64 in [1, 2] { try await own.begin(row(device, replica: device), [UInt8(device): 1]) }
        try await own.confirm(1)
        let outline = try await own.outline(1)
        // A stream of ten seconds, with five commits a second.
        for step: Int64 in 1...50 {
            let value = 2 + step * 10
            try await (step % 2 == 0 ? own : other).proceed(row(value, replica: 2, parent: value - 10), [2: 2])
            try await Self.note("\(step)", in: other)
        }
        try await own.commit(
            PullCommit(
                row: row(511, replica: 1, parent: 1), replica: .existing, now: now, ledger: TestLedger.commit([1: 3]),
                ledgersRead: [outline.replica: outline.version]))
        #expect(try await own.view(511) == [1: 3])
        #expect(try await other.context(511).sequence == 50)
    }

    @Test func `changes from one version are all made, whoever comes between`() async throws {
        let bytes = MemoryBytes()
        let gateways = [bytes, bytes.shared { _ in }, bytes.shared { _ in }].map { Accounts($0) }
        try await gateways[0].begin(row(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 { group.addTask { try await Self.note("\(number)", in: gateways[number % 3]) } }
            try await group.waitForAll()
        }
        #expect(try await gateways[0].context(1).sequence == 60)
        let notes = try await gateways[1].notes()
        #expect(Set(notes.map(\.sequence)) == Set(1...60) && Set(notes.map(\.id)).count == 60)
    }

    /// Makes three large changes at once, and tells what has become of each.
    private static func writeThree(_ store: Accounts) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for part in 0..<3 {
                group.addTask {
                    let notes = (0..<1_500).map {
                        PushNote(table: "t", id: "\(part)-\($0)", state: .held, links: [1, 2, 3, 4])
                    }
                    do {
                        try await store.write(notes)
                        return "made"
                    } catch { return (error as? StateError)?.code ?? "\(error)" }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `three changes that fail together leave nothing, and are made when there is room`() async throws {
        try await withStateFile { path in
            try await withSQLite(path, options: .with { $0.maximumPages = 20 }) { store in
                try await store.begin(row(1))
                #expect(await Self.writeThree(store) == ["state.full", "state.full", "state.full"])
                let context = try await store.context(1)
                #expect(context.row != nil && context.sequence == 0)
            }
            try await withSQLite(path) { store in
                let before = try await store.context(1).sequence
                let outcomes = await Self.writeThree(store)
                let after = try await store.context(1).sequence
                #expect(before == 0 && outcomes == ["made", "made", "made"] && after == 4_500)
            }
        }
    }
}
