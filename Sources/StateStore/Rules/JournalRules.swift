// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps pushes by calls while they are in progress, and those that were interrupted or failed (finding 19).
///
/// A journal is open from ``begin(presenting:operations:notes:at:in:)`` until ``end(_:of:at:in:)``, or until push
/// recovery closes it because the gateway that ran the push is gone. If that gateway still runs the push, its next step
/// fails before it sends anything: this is the fence between two gateways on one state. A store with leases also compares
/// their numbers here.
package enum JournalRules {
    /// A journal, and how often it could not be closed.
    struct Journal: Coded {
        var journal = PushJournal(
            id: 0, principal: Principal(), presented: nil, startedAt: 0, changedAt: 0, state: .open, operations: 0)
        var tries = 0
        /// The time of the first failed attempt.
        var triedAt: Instant?

        mutating func code(with coder: inout Coder) throws(StateError) {
            try coder.code(&journal.id)
            try coder.code(&journal.presented)
            try coder.code(&journal.startedAt, &journal.changedAt)
            try coder.code(raw: &journal.state)
            try coder.code(&journal.operations, &journal.applied, &journal.rejected, &journal.found, &journal.lost)
            try coder.code(&journal.failure, &tries, &triedAt)
        }
    }

    private static func rowKey(_ journal: Int64, _ owner: Int64) -> RowKey {
        RowKey(.journal, of: owner, number: journal)
    }

    private static func operations(_ journal: Int64, _ owner: Int64) -> Lookup {
        .all(.operation, of: owner, prefix: journal.keyBytes)
    }

    private static func operationKey(_ journal: Int64, _ index: Int, of owner: Int64) -> RowKey {
        RowKey(.operation, of: owner, journal.keyBytes + Int64(index).keyBytes)
    }

    /// Reads a journal.
    package static func journal(_ row: ByteRow, of principal: Principal) throws -> PushJournal {
        var journal = try Journal(decoding: row.bytes).journal
        journal.principal = principal
        return journal
    }

    /// Opens the journal of a push with so many operations, writes its notes, and ends the receipts of other pushes,
    /// before the first call to the backend; returns its number, never given before.
    package static func begin(
        presenting cursor: Cursor?, operations: Int, notes: [PushNote], at now: Instant, in account: inout Account
    ) throws -> Int64 {
        try ReceiptRules.drop(in: &account)
        try NoteRules.write(notes, at: now, in: &account)
        let id = try account.numbers(of: .journal, count: 1)[0]
        let journal = PushJournal(
            id: id, principal: account.principal, presented: cursor, startedAt: now, changedAt: now, state: .open,
            operations: operations)
        account.changes.expected[rowKey(id, account.owner)] = 0
        try account.put(Journal(journal: journal), at: rowKey(id, account.owner), number: id)
        try account.withHead(at: now) { $0.openJournals.append(id) }
        return id
    }

    /// Writes the outcomes of operations, and the operations that are about to be sent.
    ///
    /// - Throws: ``StateError/journalClosed`` if the journal has been closed elsewhere: send nothing more.
    package static func advance(
        _ step: JournalStep, of id: Int64, at now: Instant, in account: inout Account
    ) throws {
        var journal = try open(id, in: &account)
        try write(step, into: &journal, at: now, in: &account)
        try account.put(journal, at: rowKey(id, account.owner), number: id)
    }

    private static func open(_ id: Int64, in account: inout Account) throws -> Journal {
        let found = try account.versioned(rowKey(id, account.owner), as: Journal.self)?.value
        guard let found, found.journal.state == .open else { throw StateError.journalClosed }
        return found
    }

    private static func write(
        _ step: JournalStep, into journal: inout Journal, at now: Instant, in account: inout Account
    ) throws {
        let (id, owner) = (journal.journal.id, account.owner)
        for index in step.applied + step.rejected { account.delete(operationKey(id, index, of: owner)) }
        for operation in step.inFlight {
            _ = try key(operation.record.table, "table")
            try account.put(StoredOperation(operation: operation), at: operationKey(id, operation.index, of: owner))
        }
        journal.journal.applied += step.applied.count
        journal.journal.rejected += step.rejected.count
        journal.journal.changedAt = max(journal.journal.changedAt, now)
        try NoteRules.write(step.notes, at: now, in: &account)
        _ = try IDRules.save(step.mappings, at: now, in: &account)
    }

    /// Writes the end of a push, before its client gets the answer.
    ///
    /// A push that was applied completely, or not at all, leaves no journal. The journal stays open if a create may
    /// have succeeded under an unknown id. Other operations that may have been applied are kept for the operator.
    ///
    /// - Throws: ``StateError/journalClosed`` as ``advance(_:of:at:in:)`` does, and ``StateError/tooLarge(_:)`` for a
    ///   receipt over the limit: end the push without one.
    package static func end(_ end: JournalEnd, of id: Int64, at now: Instant, in account: inout Account) throws {
        let owner = account.owner
        try account.need([.row(rowKey(id, owner)), operations(id, owner)])
        if let kept = end.receipt { try ReceiptRules.save(kept, at: now, in: &account) }
        var journal = try open(id, in: &account)
        try write(end.step, into: &journal, at: now, in: &account)
        var left: [StoredOperation] = []
        for (row, stored) in try self.operations(of: id, in: &account) {
            if end.unknown.contains(stored.operation.index) { left.append(stored) } else { account.delete(row) }
        }
        guard var failure = end.failure, journal.journal.applied > 0 || !left.isEmpty else {
            account.delete(rowKey(id, owner))
            return try account.withKnownHead { head in head.openJournals.removeAll { $0 == id } }
        }
        failure.message = failure.message.map { remark($0, limit: 1_024) }
        journal.journal.failure = failure
        journal.journal.state = left.contains(where: \.operation.makesID) ? .open : .failed
        if journal.journal.state != .open {
            try account.withKnownHead { head in head.openJournals.removeAll { $0 == id } }
        }
        try account.put(journal, at: rowKey(id, owner), number: id)
        try thin(in: &account)
    }

    /// Closes a journal with the results of push recovery; one that is not open is left as it is.
    package static func close(
        _ id: Int64, with closure: JournalClosure, at now: Instant, in account: inout Account
    ) throws {
        let owner = account.owner
        try account.need([.row(rowKey(id, owner)), operations(id, owner)])
        guard var journal = try account.versioned(rowKey(id, owner), as: Journal.self)?.value,
            journal.journal.state == .open
        else { return }
        try NoteRules.write(closure.notes, at: now, in: &account)
        _ = try IDRules.save(closure.mappings, at: now, in: &account)
        journal.journal.state = .closed
        journal.journal.changedAt = max(journal.journal.changedAt, now)
        journal.journal.applied += closure.mappings.count
        journal.journal.found = closure.mappings.count
        journal.journal.lost = closure.lost
        let found = Set(closure.mappings.map { PushedRecordKey(table: $0.table, id: $0.clientID) })
        for (row, var stored) in try operations(of: id, in: &account) {
            // The outcome of those that were found is known now, and contents are kept no longer than they are needed.
            guard !found.contains(stored.operation.record) else {
                account.delete(row)
                continue
            }
            (stored.operation.request, stored.operation.sought) = (nil, nil)
            try account.put(stored, at: row)
        }
        try account.put(journal, at: rowKey(id, owner), number: id)
        try account.withKnownHead { head in head.openJournals.removeAll { $0 == id } }
        try thin(in: &account)
    }

    /// Deletes the oldest journals over the limit, except open ones.
    private static func thin(in account: inout Account) throws {
        let ended = try account.rows(.journal).map { try Journal(decoding: $0.bytes).journal }.filter {
            $0.state != .open
        }
        let surplus = ended.dropLast(max(1, account.setting.limits.journalsPerPrincipal))
        try remove(surplus.map(\.id), in: &account)
    }

    private static func remove(_ ids: [Int64], in account: inout Account) throws {
        try account.need(ids.map { operations($0, account.owner) })
        for id in ids {
            for (row, _) in try operations(of: id, in: &account) { account.delete(row) }
            account.delete(rowKey(id, account.owner))
        }
        guard !ids.isEmpty else { return }
        try account.withKnownHead { head in head.openJournals.removeAll(where: ids.contains) }
    }

    /// Counts a failed attempt of push recovery to resolve a journal although the backend answers; returns the number
    /// of such attempts, and the time of the first one.
    package static func countTry(
        of id: Int64, at now: Instant, in account: inout Account
    ) throws -> (tries: Int, since: Instant) {
        guard var journal = try account.versioned(rowKey(id, account.owner), as: Journal.self)?.value else {
            return (0, now)
        }
        guard journal.journal.state == .open else { return (journal.tries, journal.triedAt ?? now) }
        journal.tries += 1
        journal.triedAt = journal.triedAt ?? now
        try account.put(journal, at: rowKey(id, account.owner), number: id)
        return (journal.tries, journal.triedAt ?? now)
    }

    /// Records that the request of an operation of an open journal will not be repeated, and deletes the request.
    package static func giveUp(_ index: Int, of id: Int64, in account: inout Account) throws {
        let (journal, row) = (rowKey(id, account.owner), operationKey(id, index, of: account.owner))
        try account.need([.row(journal), .row(row)])
        guard try account.versioned(journal, as: Journal.self)?.value.journal.state == .open,
            var found = try account.value(row, as: StoredOperation.self)?.value
        else { return }
        found.operation.request = nil
        found.isGivenUp = true
        try account.put(found, at: row)
    }

    /// Returns true if the request of a record was given up once, according to the journals that are kept.
    package static func wasGivenUp(_ record: PushedRecordKey, of account: inout Account) throws -> Bool {
        try account.rows(.operation).contains {
            let stored = try StoredOperation(decoding: $0.bytes)
            return stored.isGivenUp && stored.operation.record == record
        }
    }

    /// Returns the open journals, oldest first, with their operations in flight; almost always none.
    package static func openJournals(
        of account: inout Account
    ) throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        try (account.head()?.openJournals ?? []).sorted().compactMap { try journal($0, of: &account) }
    }

    /// Returns a journal with the operations that are or were in flight.
    package static func journal(
        _ id: Int64, of account: inout Account
    ) throws -> (journal: PushJournal, inFlight: [InFlightOperation])? {
        try account.need([.row(rowKey(id, account.owner)), operations(id, account.owner)])
        guard let found = try account.rows(.row(rowKey(id, account.owner))).first else { return nil }
        return (
            try journal(found, of: account.principal), try operations(of: id, in: &account).map(\.stored.operation)
        )
    }

    private static func operations(
        of id: Int64, in account: inout Account
    ) throws -> [(row: RowKey, stored: StoredOperation)] {
        try account.rows(.operation, prefix: id.keyBytes).map { ($0.key, try StoredOperation(decoding: $0.bytes)) }
    }

    /// Deletes journals of pushes that ended long ago, and open ones that have not changed for still longer.
    static func collect(_ retention: Retention, in account: inout Account) throws -> Int {
        let gone = try account.rows(.journal).map { try Journal(decoding: $0.bytes).journal }.filter {
            $0.changedAt < ($0.state == .open ? retention.seenBefore : retention.journalsBefore)
        }.map(\.id)
        try remove(gone, in: &account)
        return gone.count
    }
}
