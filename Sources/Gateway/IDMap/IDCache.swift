// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import LineProjection
import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Caches the mappings of the principals that called last, so that a pull reads only the new ones.
final class IDCache: Sendable {
    private static let page = 10_000

    private struct State {
        var entries: [Principal: (ids: PrincipalIDs, usedAt: UInt64)] = [:]
        var bytes = 0
        var clock: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())
    private let store: Accounts
    private let tables: [String: Int]
    private let key: SipHash.Key
    /// The cache's size in bytes; the mappings of a principal with more are read again for every request.
    private let maximumBytes: Int

    init(store: Accounts, schema: Schema, key: SipHash.Key, maximumBytes: Int) {
        self.store = store
        self.key = key
        self.maximumBytes = maximumBytes
        tables = Dictionary(schema.tables.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// Returns a principal's mappings, at least up to this sequence; nil if the sequence is 0.
    func ids(of principal: Principal, upTo sequence: Int64) async throws -> PrincipalIDs? {
        guard sequence > 0 else { return nil }
        var ids = known(principal) ?? PrincipalIDs(key: key)
        guard ids.sequence < sequence else { return ids }
        while true {
            let stored = try await store.read(principal) {
                try IDRules.mappings(after: ids.sequence, limit: Self.page, of: &$0)
            }
            for mapping in stored { ids.take(mapping, tables) }
            if stored.count < Self.page { break }
        }
        keep(ids, of: principal)
        return ids
    }

    /// Returns all mappings of a principal up to now; nil if there are none.
    func newest(of principal: Principal) async throws -> PrincipalIDs? {
        let known = known(principal)?.sequence ?? 0
        let next = try await store.read(principal) { try IDRules.mappings(after: known, limit: 1, of: &$0) }.first
        return try await ids(of: principal, upTo: next?.sequence ?? known)
    }

    private func known(_ principal: Principal) -> PrincipalIDs? {
        state.withLockedValue { state in
            guard let entry = state.entries[principal] else { return nil }
            state.clock += 1
            state.entries[principal]?.usedAt = state.clock
            return entry.ids
        }
    }

    private func keep(_ ids: PrincipalIDs, of principal: Principal) {
        guard ids.byteCount <= maximumBytes else { return }
        state.withLockedValue { state in
            if let old = state.entries[principal] {
                // Another request may have read further meanwhile.
                guard old.ids.sequence < ids.sequence else { return }
                state.bytes -= old.ids.byteCount
            }
            state.clock += 1
            state.entries[principal] = (ids, state.clock)
            state.bytes += ids.byteCount
            if state.bytes > maximumBytes { Self.shrink(&state, to: maximumBytes / 2) }
        }
    }

    /// Drops the least recently used entries, half of the bytes at once, so that this is seldom needed.
    private static func shrink(_ state: inout State, to limit: Int) {
        for (principal, entry) in state.entries.sorted(by: { $0.value.usedAt < $1.value.usedAt }) {
            guard state.bytes > limit, state.entries.count > 1 else { return }
            state.entries[principal] = nil
            state.bytes -= entry.ids.byteCount
        }
    }
}
