// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension Accounts {
    /// Opens the state of a store; closes the store if it is the target of an unfinished copy.
    package static func open(
        _ bytes: any ByteStore, limits: StateLimits, epoch: Int64 = 0, leases: (any LeaseKeeping)? = nil
    ) async throws -> Accounts {
        do {
            let rows = try await bytes.load([.row(MetaKey.cursorLead.row), .row(MetaKey.copying.row)])
            guard rows[1].isEmpty else { throw StateError.copying(path: bytes.location) }
            let setting = AccountSetting(
                limits: limits, cursorLead: rows[0].first?.number ?? 0, epoch: epoch, number: TimedNumbers().next)
            return Accounts(bytes, setting: setting, leases: leases)
        } catch {
            await bytes.close()
            throw error
        }
    }

    /// True if other gateways may use the state at the same time, so that syncs need leases.
    package var needsLeases: Bool { leases != nil }
    /// The limits on what is kept and how often it is written.
    package var limits: StateLimits { setting.limits }
    /// The lead of cursors over the clock in milliseconds: 0 unless the operator has accepted a clock that was behind
    /// the state.
    package var cursorLead: Int64 { setting.cursorLead }
    /// The location of the state without secrets, for the operator.
    package var location: String { store.location }

    /// Returns the number of the whole state under a key; nil if there is none.
    func number(_ key: MetaKey) async throws -> Int64? { try await store.rows(.row(key.row)).first?.number }

    /// Changes a row of the whole state that has versions; returns false if it is another one than the one given.
    func replace(_ row: ByteRow?, at key: RowKey, with value: some Coded) async throws -> Bool {
        var changes = RowChanges()
        changes.expected[key] = row?.version ?? 0
        changes.rows[key] = ByteRow(key: key, version: versions.next(), bytes: try value.encoded())
        return try await isMade(changes)
    }

    /// Returns the greatest cursor ever handed out to any principal; the clock, with ``cursorLead``, must be past it
    /// (finding 10).
    package func newestCursor() async throws -> Cursor? {
        let rows = try await store.load([.newestCursor, .row(MetaKey.newestCursor.row)]).joined()
        return rows.map(\.number).max().flatMap { Cursor(rawValue: $0) }
    }

    /// Returns the mark of the identity key under which the state was written; nil if none was set yet.
    package func keyMark() async throws -> Int64? { try await number(.identityKey) }

    /// Sets the mark of the identity key; one that is there stays unless it is replaced.
    package func setKeyMark(_ mark: Int64, replaces: Bool) async throws {
        let row = ByteRow(key: MetaKey.identityKey.row, number: mark)
        var changes = RowChanges()
        if replaces { changes.rows[row.key] = row } else { changes.added = [row] }
        // Of two gateways that start at the same time, the first one sets it.
        guard try await isMade(changes) || !replaces else { throw StateError.busy }
    }

    /// Deletes what is no longer needed, in several transactions of bounded size; may be cancelled between them.
    ///
    /// In a large state 24 calls come to every principal once. `pause` runs after each hundred of them, so that syncs
    /// are not delayed.
    package func collect(
        _ retention: Retention, pausing pause: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> Collected {
        try await StateCollector(accounts: self, pause: pause).collect(retention)
    }

    /// Checks the store, as ``ByteStore/check(thoroughly:)`` does.
    package func check(thoroughly: Bool) async throws { try await store.check(thoroughly: thoroughly) }

    /// Checks that the state can be written now, as ``ByteStore/checkWriting(within:)`` does.
    package func checkWriting(within limit: Duration) async throws { try await store.checkWriting(within: limit) }

    /// Stores the news that was deferred, finishes running calls and releases the state; every later call throws
    /// ``StateError/closed``.
    package func close() async {
        // What cannot be stored any more comes again with the next syncs.
        try? await storeNews()
        await store.close()
    }
}
