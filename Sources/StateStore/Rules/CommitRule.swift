// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Stores a finished pull.
package enum CommitRule {
    /// The findings of a commit, for the log.
    package struct Outcome: Sendable {
        /// The number of first syncs in a row that no device has come back from, if this is one.
        package var firstSyncs: FirstSyncs.Row?
        /// The replicas that were forgotten although their devices may just have started.
        package var displaced: [ReplicaID] = []
    }

    /// Stores the pull: deletes the principal's receipts, and drops replicas that never came back and are too many.
    ///
    /// - Throws: ``StateError/cursorTaken(newest:)``, ``StateError/generationChanged(current:)``,
    ///   ``StateError/replicaUnknown(_:)``, ``StateError/replicaForked(_:)``, ``StateError/ledgerChanged`` or
    ///   ``StateError/idsChanged``; the documentation of each states what the caller should do.
    package static func commit(_ pull: PullCommit, in account: inout Account) throws -> Outcome {
        let row = pull.row
        if pull.replica == .new { account.assumeNone(row.replica) }
        try account.need(try lookups(pull, account))
        try checkSizes(of: row, account.setting.limits)
        let epochs = try account.epochs()
        let before = try account.replica(row.replica)
        try checkCursor(of: pull, before, &account)
        try account.withHead(at: pull.now) { head in
            let generation = epochs.resets + head.generation(of: row.session)
            guard generation == row.generation else { throw StateError.generationChanged(current: generation) }
            head.lastSeen.touch(pull.now)
            guard head.idSequence == row.ids.sequence else { throw StateError.idsChanged }
        }
        try SessionRules.touch(row.session, acceptedAt: pull.acceptedAt, at: pull.now, in: &account)
        if pull.replica == .new {
            let isFree = try account.isFree(.named(.replica, row.replica.rawValue))
            guard isFree else { throw StateError.replicaUnknown(row.replica) }
        }
        var replica = try replica(of: pull, before)
        var cursor = StoredCursor(row)
        for (read, version) in pull.ledgersRead {
            let other = read == replica.id ? replica : try account.replica(read)
            guard other?.ledger.version == version else { throw StateError.ledgerChanged }
        }
        try LedgerRules.take(pull, &cursor, of: &replica, in: &account)
        replica.cursors.append(cursor)
        try account.put(replica)
        if let position = pull.position {
            try SessionRules.setPosition(
                .at(position), of: row.session, syncing: replica.id, at: pull.now, in: &account)
        }
        // Refused if another pull has got this cursor meanwhile.
        account.changes.added.append(
            ByteRow(
                key: RowKey(.cursor, of: account.owner, number: row.cursor.rawValue), number: row.cursor.rawValue,
                rank: replica.id.rawValue))
        for redelivery in pull.delivered {
            try RedeliveryRules.deliver(redelivery, to: replica.id, with: row.cursor, in: &account)
        }
        try ReceiptRules.drop(in: &account)
        try count(replica, of: pull, isNew: before == nil, hadLedger: before?.ledger.base != nil, &account)
        var outcome = Outcome(displaced: try capNewcomers(replica.id, at: pull.now, in: &account))
        try LineRules.add(pull.quarantined, at: pull.now, in: &account)
        guard pull.isFirstSync else { return outcome }
        outcome.firstSyncs = try account.withHead(at: pull.now) { $0.firstSyncs.count(row.session, at: pull.now) }
        return outcome
    }

    private static func lookups(_ pull: PullCommit, _ account: Account) throws -> [Lookup] {
        let owner = account.owner
        var lookups: [Lookup] = []
        lookups.reserveCapacity(8)
        lookups.append(.row(RowKey(.principal, of: owner)))
        lookups.append(.row(StateEpochs.key))
        try SessionRules.need(pull.row.session, of: owner, in: &lookups)
        if !account.setting.assumesFree {
            lookups.append(.row(RowKey(.cursor, of: owner, number: pull.row.cursor.rawValue)))
            if pull.replica == .new { lookups.append(.named(.replica, pull.row.replica.rawValue)) }
        }
        lookups.append(.row(RowKey(.replica, of: owner, number: pull.row.replica.rawValue)))
        for other in pull.ledgersRead.keys where other != pull.row.replica {
            lookups.append(.row(RowKey(.replica, of: owner, number: other.rawValue)))
        }
        lookups += pull.delivered.map { .row(RedeliveryRules.rowKey($0, to: pull.row.replica, owner)) }
        lookups += LineRules.lookups(pull.quarantined)
        return lookups
    }

    /// Checks that no number is handed out twice, and that the cursors of a replica rise.
    private static func checkCursor(of pull: PullCommit, _ replica: ReplicaHead?, _ account: inout Account) throws {
        let cursor = pull.row.cursor
        let known = [try account.head()?.newestGone, replica?.newest].compactMap { $0 }.max()
        if let known, cursor <= known { throw StateError.cursorTaken(newest: known) }
        let key = RowKey(.cursor, of: account.owner, number: cursor.rawValue)
        guard try account.isFree(.row(key)) else { throw StateError.cursorTaken(newest: cursor) }
    }

    private static func checkSizes(of row: CursorRow, _ limits: StateLimits) throws(StateError) {
        try row.vector.check(limits)
        let states = row.comparisons.reduce(0) { $0 + $1.key.utf8.count + $1.value.mapping.utf8.count + 40 }
        guard states <= limits.comparisonBytes else { throw .tooLarge("comparison states") }
        guard row.ids.kept.count <= VisibleIDs.maximumKept else { throw .tooLarge("list of kept ids") }
        _ = try key(row.mappingDigest, "mapping digest")
    }

    /// Returns the replica of a pull, new or seen again; its cursors form one line.
    private static func replica(of pull: PullCommit, _ known: ReplicaHead?) throws(StateError) -> ReplicaHead {
        let id = pull.row.replica
        var replica: ReplicaHead
        switch (pull.replica, known) {
        case (.new, nil):
            replica = ReplicaHead(
                id: id, isConfirmed: pull.row.isConfirmed, firstSeen: pull.now, lastSeen: pull.now,
                lastResult: remark(pull.result))
        case (.existing, let known?):
            guard pull.row.parent == known.tip, pull.row.parent != nil else { throw .replicaForked(id) }
            replica = known
            replica.lastSeen = max(known.lastSeen, pull.now)
            replica.lastResult = remark(pull.result)
        default: throw .replicaUnknown(id)
        }
        replica.schemaVersion = pull.clientVersion
        if pull.row.isConfirmed { replica.tip = pull.row.cursor }
        return replica
    }

    /// Counts a replica that is new, or that has its first ledger.
    private static func count(
        _ replica: ReplicaHead, of pull: PullCommit, isNew: Bool, hadLedger: Bool, _ account: inout Account
    ) throws {
        if isNew { account.increment(.replicas, by: 1) }
        try account.withKnownHead { head in
            if isNew { head.replicas += 1 }
            if isNew, !replica.isConfirmed { head.newcomers.add(replica, of: pull.row.session, at: pull.now) }
            if !hadLedger, replica.ledger.base != nil { head.ledgers += 1 }
        }
    }

    /// Forgets replicas that have never come back and are too many (finding 27), and their ledgers at once; returns those
    /// that were not old.
    private static func capNewcomers(
        _ own: ReplicaID, at now: Instant, in account: inout Account
    ) throws -> [ReplicaID] {
        let limits = account.setting.limits
        guard let newcomers = try account.head()?.newcomers, newcomers.count > limits.unconfirmedReplicas else {
            return []
        }
        let (old, young) = newcomers.displaced(by: own, at: now, limits)
        try account.need((old + young).map { .row(RowKey(.replica, of: account.owner, number: $0.rawValue)) })
        for id in old + young {
            try ReplicaRules.forget(id, keepsChunks: false, at: now, in: &account)
            // Also one that is not there.
            try account.withKnownHead { $0.newcomers.remove(id) }
        }
        return young
    }
}

extension CheckpointVector {
    func check(_ limits: StateLimits) throws(StateError) {
        let bytes = tokens.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
        guard bytes <= limits.vectorBytes else { throw .tooLarge("checkpoint vector") }
    }
}

extension Instant {
    /// Moves on to a later time if it has got a day older, so that a head does not change with each contact.
    mutating func touch(_ now: Instant) {
        if isDue(now, after: self, 86_400_000) { self = now }
    }
}
