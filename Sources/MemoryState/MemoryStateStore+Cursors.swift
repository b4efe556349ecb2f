// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension MemoryStateStore: InspectableStore {
    /// Reads the whole context in one transaction.
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?
    ) async throws -> StoredPullContext {
        try await read { try $0.pullContext(principal, session, at: presented) }
    }

    /// Confirms the cursor if the replica goes on with it.
    package func confirm(principal: Principal, cursor: Cursor, at now: Instant) async throws {
        try await write { try $0.confirm(cursor, of: principal, at: now) }
    }

    /// Commits all of a pull or nothing.
    package func commit(_ pull: PullCommit) async throws {
        try await write { try $0.commit(pull) }
    }

    /// Sets the session's position.
    package func setPosition(
        _ position: Position, principal: Principal, session: Session, at now: Instant
    ) async throws {
        try await write { contents in
            if case .at(let vector) = position,
                Netstrings.encode(vector).count > contents.limits.vectorBytes
            {
                throw StateError.tooLarge("checkpoint vector")
            }
            try contents.withOwner(principal, at: now) { owner in
                if position == .unknown { owner.forgetPositions(except: session) }
                try owner.withSession(session, at: now) { session in
                    guard session.row.position != position else { return }
                    session.row.position = position
                    session.lastSeen = max(session.lastSeen, now)
                }
            }
        }
    }

    /// Raises the generation and forgets positions.
    package func raiseGeneration(principal: Principal, session: Session, at now: Instant) async throws -> Int {
        try await write { contents in
            try contents.withOwner(principal, at: now) { owner in
                owner.forgetPositions(except: session)
                return try owner.withSession(session, at: now) { session in
                    session.row.generation += 1
                    session.row.position = .unknown
                    session.lastSeen = max(session.lastSeen, now)
                    return session.row.generation
                }
            }
        }
    }

    /// Changes the owners one after the other.
    package func distrust(
        because restored: RestoredBackup, of principal: Principal?, at now: Instant
    ) async throws -> Int {
        let now = now + cursorLead
        return try await write { contents in
            let owners = contents.owners.filter { $0.key.isOf(principal) }
            for (found, owner) in owners {
                let time = max(owner.distrustedAt, now, owner.newest?.time ?? 0)
                contents.owners[found]?.distrustedAt = time
                for session in owner.sessions.keys {
                    contents.owners[found]?.sessions[session]?.row.generation += 1
                    contents.owners[found]?.sessions[session]?.row.position = .unknown
                }
                for (id, replica) in contents.replicas where restored == .state && replica.principal == found {
                    contents.replicas[id]?.resyncAt = max(replica.resyncAt, time)
                }
            }
            return owners.count
        }
    }

    /// Records the time, at most once in the interval.
    package func markAccepted(principal: Principal, session: Session, at now: Instant) async throws {
        try await write { contents in
            let limits = contents.limits
            try contents.withOwner(principal, at: now) { owner in
                try owner.withSession(session, at: now) { session in
                    if let accepted = session.row.acceptedAt, !limits.isAcceptanceDue(now, after: accepted) { return }
                    session.row.acceptedAt = now
                    session.lastSeen = max(session.lastSeen, now)
                }
            }
        }
    }

    /// Records a replica's last action.
    package func touch(replica: ReplicaID, result: String, at now: Instant) async throws {
        try await write { contents in
            guard let known = contents.replicas[replica],
                isDue(now, after: known.lastSeen, contents.limits.touchInterval) || known.lastResult != remark(result)
            else { return }
            contents.replicas[replica]?.lastSeen = max(known.lastSeen, now)
            contents.replicas[replica]?.lastResult = remark(result)
        }
    }

    /// Records a version that has risen.
    package func notePushed(version: Int, replica: ReplicaID?, principal: Principal) async throws -> Bool {
        try await write { try $0.notePushed(version, by: replica, of: principal) }
    }

    /// Returns a receipt between the time it was saved and the time it expires.
    package func receipt(principal: Principal, digest: String, at now: Instant) async throws -> Receipt? {
        try await read { contents in
            let digest = try key(digest, "push digest")
            return try contents.owner(principal)?.receipts.last {
                $0.kept.digest == digest && $0.savedAt <= now && $0.kept.expiresAt > now
            }?.kept.receipt
        }
    }

    /// Keeps a receipt.
    package func saveReceipt(
        _ receipt: Receipt, principal: Principal, digest: String, at now: Instant, expiresAt: Instant
    ) async throws {
        try await write { contents in
            let limits = contents.limits
            guard receipt.body.count <= limits.receiptBytes else { throw StateError.tooLarge("answer of the push") }
            try contents.withOwner(principal, at: now) { owner in
                try owner.save(
                    JournalEnd.KeptReceipt(receipt: receipt, digest: digest, expiresAt: expiresAt),
                    limit: limits.receiptsPerPrincipal, at: now)
            }
        }
    }

    /// Deletes the receipts of a principal.
    package func dropReceipts(principal: Principal) async throws {
        try await write { $0.owners[principal]?.receipts = [] }
    }

    /// Returns lines, most recent first.
    package func quarantined(limit: Int) async throws -> [QuarantineEntry] {
        try await read { contents in
            let entries = contents.lines.entries.values.sorted { ($0.lastSeen, $0.id) > ($1.lastSeen, $1.id) }
            return Array(entries.prefix(page(limit)))
        }
    }

    /// Counts the lines in quarantine.
    package func quarantineCounts() async throws -> QuarantineCounts {
        try await read { $0.lines.counts }
    }

    /// Returns replicas in the order of their numbers.
    package func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow] {
        let (lead, after) = (cursorLead, after?.rawValue ?? 0)
        return try await read { contents in
            let ids = contents.replicas.filter { $0.value.principal.isOf(principal) }.keys
            return ids.filter { $0.rawValue > after }.sorted { $0.rawValue < $1.rawValue }.prefix(page(limit))
                .compactMap { contents.describe($0, cursorLead: lead) }
        }
    }

    /// Returns replicas, most recently seen first.
    package func replicasByContact(
        of principal: Principal?, after: ReplicaID?, limit: Int
    ) async throws -> [ReplicaRow] {
        let lead = cursorLead
        return try await read { contents in
            let last = after.map { (contents.replicas[$0]?.lastSeen ?? .earliest, $0.rawValue) } ?? (.latest, .max)
            return contents.replicas.filter { $0.value.principal.isOf(principal) }
                .map { (lastSeen: $0.value.lastSeen, id: $0.key) }
                .filter { ($0.lastSeen, $0.id.rawValue) < last }
                .sorted { ($0.lastSeen, $0.id.rawValue) > ($1.lastSeen, $1.id.rawValue) }
                .prefix(page(limit)).compactMap { contents.describe($0.id, cursorLead: lead) }
        }
    }

    /// Returns the greatest cursor, also of principals that were forgotten.
    package func newestCursor() async throws -> Cursor? {
        try await read { contents in
            (contents.owners.values.map(\.newest) + [contents.newestCollected]).compactMap { $0 }.max()
        }
    }

    /// Deletes everything that the retention allows, in one transaction.
    package func collect(_ retention: Retention) async throws -> Collected {
        let lead = cursorLead
        return try await write { $0.collect(retention, cursorLead: lead) }
    }

    /// Counts what belongs to the principals, and deletes it.
    package func erase(_ principal: Principal) async throws -> [CopiedTable: Int] {
        try await write { contents in
            var erased: [CopiedTable: Int] = [:]
            for (found, owner) in contents.owners where found.isOf(principal) {
                let counts = contents.erase(found, owner)
                erased.merge(counts, uniquingKeysWith: +)
            }
            return erased.filter { $0.value > 0 }
        }
    }

    /// Returns principals by the first digits of their digests.
    package func principals(beginningWith digits: String, limit: Int) async throws -> [Principal] {
        try await read { contents in
            let digits = try key(digits, "principal")
            let known = Set(contents.owners.keys)
            let found = known.union(known.map(\.user)).filter { $0.rawValue.hasPrefix(digits) }
            return Array(found.sorted { $0.rawValue < $1.rawValue }.prefix(page(limit)))
        }
    }

    /// Returns the note of one record.
    package func pushNote(of principal: Principal, table: String, id: String) async throws -> PushNote? {
        try await read { contents in
            let record = PushedRecordKey(table: try key(table, "table"), id: id)
            return try contents.owner(principal)?.notes.notes[record]?.note
        }
    }

    /// Returns the cursor of each layer.
    package func cursors(of outline: LedgerOutline) async throws -> [LayerID: Cursor] {
        try await read { contents in
            var cursors: [LayerID: Cursor] = [:]
            for layer in outline.deltas + outline.undos { cursors[layer] = contents.shelf.layers[layer]?.cursor }
            if let base = outline.base, let ledger = contents.replicas[outline.replica]?.ledger, ledger.base == base {
                cursors[base] = ledger.compacted
            }
            return cursors
        }
    }
}

extension Principal {
    /// Returns true if no other principal is asked for, or this one, or the user behind it.
    func isOf(_ wanted: Principal?) -> Bool { wanted.map(belongs) ?? true }
}

/// Returns the number of rows to list: at most 10,000.
func page(_ limit: Int) -> Int { min(max(0, limit), 10_000) }
