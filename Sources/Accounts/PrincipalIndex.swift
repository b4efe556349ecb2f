// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Finds principals by what belongs to them.
///
/// A damaged head stops its principal, and not those that are listed with it.
struct PrincipalIndex: Sendable {
    let store: any ByteStore

    /// Returns the principal whose row of a kind has a number, and the row.
    func principal(ofRow kind: RowKind, _ number: Int64) async throws -> (principal: Principal, row: ByteRow)? {
        guard let row = try await store.rows(.named(kind, number)).first else { return nil }
        let owner = row.key.owner
        return (try await principals(of: [owner]).named(owner), row)
    }

    func principals(of owners: Set<Int64>) async throws -> [Int64: Principal] {
        let rows = try await store.load(owners.map { .row(RowKey(.principal, of: $0)) }).joined()
        return rows.reduce(into: [:]) { $0[$1.key.owner] = (try? PrincipalHead(decoding: $1.bytes))?.principal }
    }

    /// Returns a principal and its scopes, with those that are damaged (``Principal/init(damaged:)``); nil for all
    /// principals.
    func principals(behind principal: Principal?) async throws -> [Principal]? {
        guard let principal else { return nil }
        let scopes = try await store.rows(.all(.scope, of: principal.owner))
        let owners = Set(scopes.map { Int64(keyBytes: $0.key.key) } + [principal.owner])
        let rows = try await store.load(owners.map { .row(RowKey(.principal, of: $0)) }).joined()
        return rows.map(Principal.init(head:))
            .filter { $0.belongs(to: principal) || $0 == Principal(damaged: $0.owner) }
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Runs the body for a principal and its scopes, or for all principals; throws what is damaged in the end.
    func forEachPrincipal(
        behind principal: Principal?, _ body: (Principal) async throws -> Void
    ) async throws {
        var damage: StateError?
        func run(_ principals: [Principal]) async throws {
            for principal in principals {
                do {
                    try await body(principal)
                } catch StateError.corrupt(let what) {
                    damage = damage ?? .corrupt(what)
                }
            }
        }
        if let wanted = try await principals(behind: principal) {
            try await run(wanted)
        } else {
            var next: Int64? = .min
            while let first = next {
                let page = try await page(from: first, limit: 500)
                try await run(page.principals)
                next = page.next
            }
        }
        if let damage { throw damage }
    }

    /// Returns principals in the order of their owners, beginning with one.
    ///
    /// - Returns: The principals, the owners of those that are damaged, and the owner to go on with; nil if no owner
    ///   follows.
    func page(from first: Int64, limit: Int) async throws -> (principals: [Principal], damaged: [Int64], next: Int64?) {
        let rows = try await store.rows(.principals(first...Int64.max, limit: limit))
        let heads = rows.map { try? PrincipalHead(decoding: $0.bytes) }
        let damaged = zip(rows, heads).filter { $1 == nil }.map(\.0.key.owner)
        let next = rows.last.flatMap { rows.count < limit || $0.key.owner == .max ? nil : $0.key.owner + 1 }
        return (heads.compactMap { $0?.principal }, damaged, next)
    }
}

extension Principal {
    /// Creates the principal of a head, or the one that stands for it if the head is damaged.
    init(head row: ByteRow) {
        self = (try? PrincipalHead(decoding: row.bytes))?.principal ?? Principal(damaged: row.key.owner)
    }
}

extension [Int64: Principal] {
    /// Returns the principal of an owner, or the one that stands for it if its head is damaged.
    func named(_ owner: Int64) -> Principal { self[owner] ?? Principal(damaged: owner) }
}
