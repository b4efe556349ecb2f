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
    private static func note(_ id: String) -> @Sendable (inout Account) throws -> Void {
        { try NoteRules.write([PushNote(table: "t", id: id, state: .held)], at: now, in: &$0) }
    }

    @Test(arguments: StateBacking.all)
    func `two pulls and a push of one login come through side by side`(backing: StateBacking) async throws {
        try await backing { store in
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
                group.addTask { for step in 1...15 { try await store.change(alice, Self.note("\(step)")) } }
                try await group.waitForAll()
            }
            #expect(try await store.context(151).row?.replica.rawValue == 1)
            let context = try await store.context(152)
            #expect(context.row?.replica.rawValue == 2 && context.sequence == 15)
        }
    }

    @Test func `a pull that takes long is committed though others of its login commit all the time`() async throws {
        let bytes = MemoryBytes()
        let (own, other) = (
            Accounts(bytes), Accounts(bytes.shared { _ in })
        )
        for device: Int64 in [1, 2] { try await own.begin(row(device, replica: device), [UInt8(device): 1]) }
        try await own.confirm(1)
        let outline = try await own.outline(1)
        // A stream of ten seconds, with five commits a second.
        for step: Int64 in 1...50 {
            let value = 2 + step * 10
            try await (step % 2 == 0 ? own : other).proceed(row(value, replica: 2, parent: value - 10), [2: 2])
            try await other.change(alice, Self.note("\(step)"))
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
            for number in 0..<60 {
                group.addTask { try await gateways[number % 3].change(alice, Self.note("\(number)")) }
            }
            try await group.waitForAll()
        }
        #expect(try await gateways[0].context(1).sequence == 60)
        let notes = try await gateways[1].notes()
        #expect(Set(notes.map(\.sequence)) == Set(1...60) && Set(notes.map(\.id)).count == 60)
    }

    @Test func `three changes that fail together leave nothing, and are made when there is room`() async throws {
        try await withStateFile { path in
            let notes = (0..<3).map { part in
                (0..<1_500).map { PushNote(table: "t", id: "\(part)-\($0)", state: .held, links: [1, 2, 3, 4]) }
            }
            func write(_ store: Accounts) async -> [String] {
                await withTaskGroup(of: String.self) { group in
                    for part in notes {
                        group.addTask {
                            do {
                                try await store.write(part)
                                return "made"
                            } catch { return (error as? StateError)?.code ?? "\(error)" }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            let small = SQLiteStateStore.Options.with { $0.maximumPages = 20 }
            try await withSQLite(path, options: small) { store in
                try await store.begin(row(1))
                #expect(await write(store) == ["state.full", "state.full", "state.full"])
                let context = try await store.context(1)
                #expect(context.row != nil && context.sequence == 0)
            }
            try await withSQLite(path) { store in
                let before = try await store.context(1).sequence
                let codes = await write(store)
                let after = try await store.context(1).sequence
                #expect(codes == ["made", "made", "made"] && before == 0 && after == 4_500)
            }
        }
    }
}
