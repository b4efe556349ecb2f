// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Reads and writes the rows that pulls need.
extension Contents {
    func pullContext(_ principal: Principal, _ session: Session, at presented: Cursor?) throws(StateError)
        -> StoredPullContext
    {
        var context = StoredPullContext()
        let owner = try owner(principal)
        if let owner {
            context.newest = owner.newest
            context.distrustedAt = owner.distrustedAt
            context.sequence = owner.notes.sequence
            context.idSequence = owner.ids.sequence
            context.hasLedgers = replicas(of: principal).contains { $0.replica.ledger.base != nil }
            context.session =
                owner.sessions[Session(rawValue: try key(session.rawValue, "session"))]?.row ?? SessionRow()
            context.unfinished = unfinishedPushes(of: principal)
            context.hasReceipts = !owner.receipts.isEmpty
            context.hasQuarantined = !pushes.entries(of: principal).isEmpty
        }
        guard let presented else { return context }
        guard let row = owner?.cursors[presented]?.row, let replica = replicas[row.replica] else {
            context.belongsToAnotherPrincipal = owners.contains {
                $0.key != principal && $0.value.cursors[presented] != nil
            }
            return context
        }
        context.row = row
        context.newestOfReplica = newestCursor(of: row.replica)
        context.isFork = replica.tip.map { $0 != presented && $0 != row.parent } ?? false
        context.acceptedAt = replica.acceptedAt
        context.resyncAt = replica.resyncAt
        context.firstSeen = replica.firstSeen
        // The pushes of another device show nothing about this one.
        context.pushedVersion = context.isFork ? nil : replica.pushedVersion
        context.hasRedeliveries = replica.redeliveries.values.contains { $0.delivered.map { $0 > presented } ?? true }
        context.hasRecordedRedeliveries = !replica.redeliveries.isEmpty
        context.troubles = Set(replica.troubles.keys)
        context.ledger = outline(of: row.replica, at: presented)
        context.held = context.ledger.map(held) ?? [:]
        return context
    }

    private func unfinishedPushes(of principal: Principal) -> UnfinishedPushes {
        UnfinishedPushes(
            openJournals: journals.all.filter { $0.journal.principal == principal && $0.journal.state == .open }
                .map(\.journal.id),
            hasScheduledRetries: pushes.entries(of: principal).contains { $0.markedAt != nil })
    }

    private func held(_ outline: LedgerOutline) -> [String: Int] {
        let layers = outline.deltas + (outline.base.map { [$0] } ?? [])
        return layers.flatMap { shelf.layers[$0]?.counts ?? [:] }
            .reduce(into: [:]) { held, count in held[count.key, default: 0] += count.value.held }
    }

    mutating func confirm(_ cursor: Cursor, of principal: Principal, at now: Instant) throws(StateError) {
        guard let row = try owner(principal)?.cursors[cursor]?.row, let replica = replicas[row.replica] else {
            throw .cursorUnknown(cursor)
        }
        let isNews = !row.isConfirmed && (replica.tip == nil || row.parent == replica.tip)
        guard isNews || isDue(now, after: replica.lastSeen, limits.touchInterval) else { return }
        if isNews {
            owners[principal]?.cursors[cursor]?.row.isConfirmed = true
            replicas[row.replica]?.isConfirmed = true
            replicas[row.replica]?.tip = cursor
        }
        replicas[row.replica]?.lastSeen = max(replica.lastSeen, now)
    }

    mutating func commit(_ pull: PullCommit) throws {
        let row = pull.row
        try withOwner(row.principal, at: pull.now) { owner in
            if let newest = owner.newest, row.cursor <= newest { throw StateError.cursorTaken(newest: newest) }
            owner.newest = row.cursor
            owner.lastSeen = max(owner.lastSeen, pull.now)
            try owner.withSession(row.session, at: pull.now) { session in
                guard session.row.generation == row.generation else {
                    throw StateError.generationChanged(current: session.row.generation)
                }
                session.lastSeen = max(session.lastSeen, pull.now)
                if let position = pull.position { session.row.position = .at(position) }
                if let acceptedAt = pull.acceptedAt { session.row.acceptedAt = acceptedAt }
            }
            guard owner.ids.sequence == row.ids.sequence else { throw StateError.idsChanged }
        }
        try putInChain(pull)
        let standing = try takeLedger(of: pull)
        try checkSizes(of: row)
        owners[row.principal]?.cursors[row.cursor] = StoredCursor(row: row, standing: standing)
        for redelivery in pull.delivered {
            replicas[row.replica]?.redeliveries[redelivery.key]?.delivered = row.cursor
        }
        owners[row.principal]?.receipts = []
        capUnconfirmed(pull)
        lines.add(pull.quarantined, for: row.principal, at: pull.now, limits)
    }

    private func checkSizes(of row: CursorRow) throws(StateError) {
        guard Netstrings.encode(row.vector).count <= limits.vectorBytes else { throw .tooLarge("checkpoint vector") }
        guard FullComparisonStates.encode(row.comparisons).count <= limits.comparisonBytes else {
            throw .tooLarge("comparison states")
        }
        guard row.ids.kept.count <= VisibleIDs.maximumKept else { throw .tooLarge("list of kept ids") }
        _ = try key(row.mappingDigest, "mapping digest")
    }

    /// Creates the replica of a pull, or records that it was seen; its cursors form one line.
    private mutating func putInChain(_ pull: PullCommit) throws(StateError) {
        let id = pull.row.replica
        let known = replicas[id]
        switch (pull.replica, known?.principal) {
        case (.new, nil):
            replicas[id] = Replica(
                principal: pull.row.principal, isConfirmed: pull.row.isConfirmed, firstSeen: pull.now,
                lastSeen: pull.now, lastResult: remark(pull.result), schemaVersion: pull.clientVersion)
        case (.existing, pull.row.principal):
            guard pull.row.parent == known?.tip, pull.row.parent != nil else { throw .replicaForked(id) }
            replicas[id]?.lastSeen = max(known?.lastSeen ?? 0, pull.now)
            replicas[id]?.lastResult = remark(pull.result)
            replicas[id]?.schemaVersion = pull.clientVersion
        default:
            throw .replicaUnknown(id)
        }
        if pull.row.isConfirmed { replicas[id]?.tip = pull.row.cursor }
    }

    /// Drops the oldest replicas that have never come back, down to the limit (finding 27), and their ledgers at once.
    private mutating func capUnconfirmed(_ pull: PullCommit) {
        let own = pull.row.replica
        let unconfirmed = replicas(of: pull.row.principal).filter { !$0.replica.isConfirmed && $0.id != own }
            .sorted { ($0.replica.lastSeen, $0.id.rawValue) > ($1.replica.lastSeen, $1.id.rawValue) }
        let isOwn = replicas[own]?.isConfirmed == false
        for (id, _) in unconfirmed.dropFirst(max(1, pull.unconfirmedReplicas) - (isOwn ? 1 : 0)) {
            kill(id)
            for (layer, _) in shelf.layers(of: id) { shelf.layers[layer]?.chunks = [] }
        }
    }

    /// Records the schema version that pushes have stated or implied for a replica, or for the principal's only one.
    mutating func notePushed(_ version: Int, by replica: ReplicaID?, of principal: Principal) throws(StateError) -> Bool
    {
        guard try owner(principal) != nil else { return false }
        let found = replicas(of: principal).filter { replica == nil || $0.id == replica }
        guard found.count == 1, let (id, known) = found.first, known.pushedVersion ?? 0 < version else { return false }
        replicas[id]?.pushedVersion = version
        return true
    }

    /// Returns a replica as the operator sees it.
    func describe(_ id: ReplicaID, cursorLead: Int64) -> ReplicaRow? {
        guard let replica = replicas[id] else { return nil }
        let newest = newestCursor(of: id)
        let cursor = newest.flatMap { owners[replica.principal]?.cursors[$0]?.row }
        let outline = outline(of: id, at: replica.tip ?? newest)
        let layers = replica.ledger.base == nil ? [] : shelf.layers(of: id)
        return ReplicaRow(
            id: id, principal: replica.principal, isConfirmed: replica.isConfirmed, firstSeen: replica.firstSeen,
            lastSeen: replica.lastSeen, lastResult: replica.lastResult, newest: newest,
            schemaVersion: replica.schemaVersion ?? replica.pushedVersion ?? cursor?.schemaVersion, tip: replica.tip,
            horizon: replica.ledger.horizon, ledger: outline.map(counts(of:)) ?? [:],
            ledgerBytes: layers.reduce(0) { $0 + $1.layer.counts.values.reduce(0) { $0 + $1.bytes } },
            comparisons: cursor?.comparisons ?? [:], acceptedAt: replica.acceptedAt,
            resyncAt: max(0, replica.resyncAt - cursorLead))
    }
}

extension PendingRedelivery {
    var key: PushedRecordKey { PushedRecordKey(table: table, id: id) }
}
