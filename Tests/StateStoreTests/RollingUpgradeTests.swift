// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import SyncModel
import Testing

@testable import StateStore

/// Gateways of two versions on one state, of which the newer one codes more parts of a head.
@Suite struct RollingUpgradeTests {
    /// A part that only the newer gateway knows.
    private static let part: [UInt8] = [7, 0x80, 1]

    /// Lets the newer gateway append its part to the heads of a principal.
    private static func upgrade(_ bytes: MemoryBytes) async throws {
        var changes = RowChanges()
        let rows = try await bytes.load([.row(RowKey(.principal, of: alice.owner)), .all(.replica, of: alice.owner)])
        for var row in rows.joined() {
            let known = row.key.kind == .principal
            row.bytes = known ? try appended(PrincipalHead.self, row.bytes) : try appended(ReplicaHead.self, row.bytes)
            changes.expected[row.key] = row.version
            row.version += 1
            changes.rows[row.key] = row
        }
        #expect(try await bytes.commit([changes]) == [.made])
    }

    private static func appended<Head: Coded>(_ type: Head.Type, _ bytes: [UInt8]) throws -> [UInt8] {
        var (coder, head) = (Coder(), try Head(decoding: bytes))
        try head.code(with: &coder)
        var part = Self.part
        coder.code(rest: &part)
        return coder.sealed
    }

    private static func parts(_ bytes: MemoryBytes) async throws -> [[UInt8]] {
        let rows = try await bytes.load([.row(RowKey(.principal, of: alice.owner)), .all(.replica, of: alice.owner)])
        return try rows[0].map { try PrincipalHead(decoding: $0.bytes).later }
            + rows[1].map { try ReplicaHead(decoding: $0.bytes).later }
    }

    @Test(arguments: [1_900, 1])
    func `an older gateway keeps what a newer one has added to heads, whatever it does with them`(
        headBytes: Int
    ) async throws {
        let bytes = MemoryBytes()
        let limits = StateLimits.with { $0.headBytes = headBytes }
        let (older, newer) = (Accounts(bytes, limits: limits), Accounts(bytes.shared { _ in }, limits: limits))
        try await newer.begin(row(100), [1: 1])
        #expect(try await Self.parts(bytes) == [[], []])
        try await Self.upgrade(bytes)
        for value: Int64 in 101...112 {
            try await (value % 3 == 0 ? newer : older).proceed(row(value, parent: value - 1), [UInt8(value): 1])
        }
        try await older.resync()
        try await older.setPosition(.at(CheckpointVector(["a": "b"])))
        try await older.raiseGeneration()
        try await older.collect(at: now + 9_000_000)
        try await older.storeDeferred()
        #expect(try await Self.parts(bytes) == [Self.part, Self.part])
        #expect(try await newer.context(112).row != nil)
    }

    @Test func `a value of another form of the coding is damaged, and never misread`() throws {
        var bytes = try PrincipalHead(alice, at: now).encoded()
        bytes[0] += 1
        #expect(throws: Coder.damage) { try PrincipalHead(decoding: bytes) }
    }
}
