// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Collects expired data; each step collects what the one before has freed.
extension Contents {
    mutating func collect(_ wanted: Retention, cursorLead: Int64) -> Collected {
        var collected = Collected()
        collected.leapt = time.pass(
            to: wanted.now, ran: wanted.ran, longest: wanted.now.milliseconds(since: wanted.seenBefore))
        var retention = time.corrected(wanted)
        retention.cursorLead = cursorLead
        collected.receipts = collectReceipts(at: retention.now)
        collected.undos = collectUndos(retention)
        collected.siblings = collectSiblings(retention)
        collected.chunks = shelf.collect(before: retention.stagedBefore)
        collected.notes = collectNotes(retention)
        collectRedeliveries(retention)
        collected.journals = journals.collect(before: retention.journalsBefore, openBefore: retention.seenBefore)
        collected.cursors = collectCursors(before: retention.supersededCursorsBefore)
        collected.replicas = buryUnseen(retention)
        loosenDead(at: retention.now)
        collected.sessions = collectSessions(before: retention.seenBefore)
        for (principal, owner) in owners {
            owners[principal]?.refusals = owner.refusals.filter { $0.value.lastAt >= retention.journalsBefore }
        }
        collected.principals = collectPrincipals(before: retention.seenBefore)
        return collected
    }

    private mutating func collectReceipts(at now: Instant) -> Int {
        var count = 0
        for (principal, owner) in owners {
            let kept = owner.receipts.filter { $0.kept.expiresAt > now }
            count += owner.receipts.count - kept.count
            owners[principal]?.receipts = kept
        }
        return count
    }

    /// Collects old undos, but only of cursors that are in the base: every older cursor needs the undos of a compaction
    /// in progress.
    private mutating func collectUndos(_ retention: Retention) -> Int {
        var count = 0
        for (id, layer) in shelf.layers where layer.kind == .undo {
            guard let replica = layer.replica, let cursor = layer.cursor, let ledger = replicas[replica]?.ledger,
                cursor.rawValue < retention.undoCursorsBefore, ledger.compacted.map({ cursor <= $0 }) == true
            else { continue }
            shelf.loosen(id, at: retention.now)
            replicas[replica]?.ledger.horizon = max(ledger.horizon ?? cursor, cursor)
            count += 1
        }
        return count
    }

    /// Collects the deltas of cursors without which their replica has gone on.
    private mutating func collectSiblings(_ retention: Retention) -> Int {
        let siblings = owners.values.flatMap(\.cursors.values).filter { stored in
            guard let tip = replicas[stored.row.replica]?.tip else { return false }
            return stored.standing.layer != nil && !stored.row.isConfirmed
                && stored.row.cursor.rawValue < retention.undoCursorsBefore && stored.row.parent != tip
        }
        for sibling in siblings { drop(sibling, of: sibling.row.principal, below: nil, at: retention.now) }
        return siblings.count
    }

    /// Collects the notes of principals that stayed away, and the notes that all cursors with an exact ledger and every
    /// tip have seen.
    private mutating func collectNotes(_ retention: Retention) -> Int {
        var count = 0
        for (principal, owner) in owners {
            let seen =
                owner.cursors.values.filter { stored in
                    guard let replica = replicas[stored.row.replica] else { return false }
                    let cursor = stored.row.cursor
                    return replica.ledger.horizon.map { cursor >= $0 } ?? true
                        && (stored.standing.isExact || replica.tip.map { cursor >= $0 } ?? true)
                }.map(\.row.noted).min() ?? .max
            let kept = owner.notes.notes.values.filter { stored in
                stored.madeAt >= retention.seenBefore
                    && !(stored.note.sequence <= seen && stored.madeAt < retention.undoBefore)
            }
            count += owner.notes.notes.count - kept.count
            owners[principal]?.notes.notes = Dictionary(
                kept.map { (PushedRecordKey(table: $0.note.table, id: $0.note.id), $0) }, uniquingKeysWith: { $1 })
        }
        return count
    }

    /// Collects redeliveries that were delivered and are no longer counted, and those that no device came for.
    private mutating func collectRedeliveries(_ retention: Retention) {
        for (id, replica) in replicas {
            replicas[id]?.redeliveries = replica.redeliveries.filter {
                $0.value.since >= retention.undoBefore
                    || ($0.value.delivered == nil && $0.value.since >= retention.seenBefore)
            }
        }
    }

    /// Collects cursors that are superseded by a later, confirmed one of the same replica, and on which no ledger
    /// rests.
    private mutating func collectCursors(before: Int64) -> Int {
        var count = 0
        for (principal, owner) in owners {
            let kept = owner.cursors.filter { cursor, stored in
                let replica = replicas[stored.row.replica]
                return cursor.rawValue >= before || stored.standing.layer != nil || replica?.ledger.compacted == cursor
                    || !owner.cursors.values.contains {
                        $0.row.replica == stored.row.replica && $0.row.cursor > cursor && $0.row.isConfirmed
                    }
            }
            count += owner.cursors.count - kept.count
            owners[principal]?.cursors = kept
        }
        return count
    }

    /// Forgets replicas that were not seen for long, but only a share of all replicas in an hour.
    private mutating func buryUnseen(_ retention: Retention) -> Int {
        let unseen = replicas.filter { $0.value.lastSeen < retention.seenBefore }
            .sorted { ($0.value.lastSeen, $0.key.rawValue) < ($1.value.lastSeen, $1.key.rawValue) }
        guard !unseen.isEmpty else { return 0 }
        if retention.now.milliseconds(since: burials.since) >= CollectionTime.period || burials.since > retention.now {
            burials = (retention.now, max(1, replicas.count / CollectionTime.burialShare))
        }
        let buried = unseen.prefix(burials.left)
        for (id, _) in buried { kill(id) }
        burials.left -= buried.count
        return buried.count
    }

    /// Detaches the layers of replicas that are gone; they can be read for another hour.
    private mutating func loosenDead(at now: Instant) {
        for (id, layer) in shelf.layers {
            if let replica = layer.replica, replicas[replica] == nil { shelf.loosen(id, at: now) }
        }
    }

    private mutating func collectSessions(before: Instant) -> Int {
        var count = 0
        for (principal, owner) in owners {
            let named = Set(owner.cursors.values.map(\.row.session))
            let kept = owner.sessions.filter { $0.value.lastSeen >= before || named.contains($0.key) }
            count += owner.sessions.count - kept.count
            owners[principal]?.sessions = kept
        }
        return count
    }

    private mutating func collectPrincipals(before: Instant) -> Int {
        let gone = owners.filter { principal, owner in
            owner.lastSeen < before && owner.sessions.isEmpty && owner.receipts.isEmpty && owner.notes.notes.isEmpty
                && owner.ids.mappings.isEmpty && replicas(of: principal).isEmpty
                && pushes.entries(of: principal).isEmpty
                && !journals.all.contains { $0.journal.principal == principal }
        }
        for (principal, owner) in gone {
            // The greatest cursor ever handed out must not become smaller when its owner is forgotten.
            newestCollected = [newestCollected, owner.newest].compactMap { $0 }.max()
            owners[principal] = nil
        }
        return gone.count
    }
}
