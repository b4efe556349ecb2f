// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Says what is known when a pull or push begins.
package enum ContextRule {
    /// Returns all that the state knows at one moment, for a call under a session that presents a cursor; a push also
    /// names its records, whose notes are read along.
    package static func context(
        of account: inout Account, session: Session, presented: Cursor?, pushing records: [PushedRecordKey] = []
    ) throws -> StoredPullContext {
        let owner = account.owner
        var lookups: [Lookup] = []
        lookups.reserveCapacity(5 + records.count)
        lookups.append(.row(RowKey(.principal, of: owner)))
        lookups.append(.row(StateEpochs.key))
        try SessionRules.need(session, of: owner, in: &lookups)
        let named = presented.map { Lookup.replica(namedBy: RowKey(.cursor, of: owner, number: $0.rawValue)) }
        if let named { lookups.append(named) }
        for record in records { lookups.append(.row(NoteRules.rowKey(record, owner))) }
        try account.need(lookups)
        var context = StoredPullContext()
        let (head, epochs) = (try account.head(), try account.epochs())
        context.session.generation = epochs.resets
        context.distrustedAt = epochs.distrustedAt
        if let head {
            fill(&context, with: head, epochs: epochs, newestKnown: account.newestKnown)
            let generation = epochs.resets + head.generation(of: session)
            context.session = try SessionRules.row(of: session, generation: generation, in: &account)
            context.lastMove = try SessionRules.lastMove(of: &account)
        }
        guard let presented, let named else { return context }
        let row = try account.rows(named).first { $0.key.kind == .cursor }
        guard head != nil, let row, let replica = try account.replica(ReplicaID(rawValue: row.rank), at: presented),
            let cursor = replica[presented]
        else {
            if head != nil, let named = row.map({ ReplicaID(rawValue: $0.rank) }), try account.isDamaged(named) {
                context.damaged = named
            }
            context.belongsToAnotherPrincipal =
                try account.rows(.named(.cursor, presented.rawValue)).contains { $0.key.owner != account.owner }
            return context
        }
        try fill(&context, with: replica, at: cursor, of: &account, epochs: epochs)
        return context
    }

    private static func fill(
        _ context: inout StoredPullContext, with head: PrincipalHead, epochs: StateEpochs,
        newestKnown: Cursor?
    ) {
        context.newest = [head.newestGone, newestKnown].compactMap { $0 }.max()
        context.distrustedAt = max(head.distrustedAt, epochs.distrustedAt)
        context.sequence = head.noteSequence
        context.idSequence = head.idSequence
        context.hasLedgers = head.ledgers > 0
        context.unfinished = UnfinishedPushes(
            openJournals: head.openJournals, hasScheduledRetries: head.scheduled > 0)
        context.hasReceipts = !head.receipts.isEmpty
        context.hasQuarantined = head.quarantined > 0
    }

    private static func fill(
        _ context: inout StoredPullContext, with replica: ReplicaHead, at cursor: StoredCursor,
        of account: inout Account, epochs: StateEpochs
    ) throws {
        context.row = cursor.row(of: account.principal, replica.id)
        context.newestOfReplica = replica.newest
        context.newest = [context.newest, replica.newest].compactMap { $0 }.max()
        context.isFork = replica.tip.map { $0 != cursor.cursor && $0 != cursor.parent } ?? false
        context.acceptedAt = replica.acceptedAt
        context.resyncAt = max(replica.resyncAt, epochs.resyncAt)
        context.firstSeen = replica.firstSeen
        // The pushes of another device show nothing about this one.
        context.pushedVersion = context.isFork ? nil : replica.pushedVersion
        context.hasRecordedRedeliveries = replica.owed > 0
        context.hasRedeliveries =
            try RedeliveryRules.pending(for: replica, at: cursor.cursor, of: &account).isEmpty == false
        context.troubles = replica.troubles
        let outline = replica.outline(at: cursor.cursor)
        context.ledger = outline
        context.held = outline.counts.mapValues(\.held)
    }
}
