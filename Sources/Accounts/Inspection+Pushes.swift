// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

// Journals and quarantines.
extension Inspection {
    /// Returns journals by their numbers, all or one principal's, beginning with the one after `after`, at most 10,000.
    package func journals(of principal: Principal?, after: Int64, limit: Int) async throws -> [PushJournal] {
        var journals: [PushJournal] = []
        for (row, principal) in try await rows(.journal, of: principal, after: after, limit) {
            if let journal = try? JournalRules.journal(row, of: principal) {
                journals.append(journal)
            } else {
                let open = try? await accounts.read(principal) { try $0.head()?.openJournals ?? [] }
                journals.append(
                    PushJournal(damaged: row, of: principal, isOpen: open.map { $0.contains(row.number) } ?? true))
            }
        }
        return journals
    }

    /// Returns one journal, with the operations that are or were in flight.
    package func journal(_ id: Int64) async throws -> (journal: PushJournal, inFlight: [InFlightOperation])? {
        guard let principal = try await index.principal(ofRow: .journal, id)?.principal else { return nil }
        return try await accounts.read(principal) { try JournalRules.journal(id, of: &$0) }
    }

    /// Returns quarantined pushes by their numbers, all or one principal's, beginning with the one after `after`;
    /// without bodies, at most 10,000.
    package func quarantinedPushes(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantinedPush]
    {
        try await rows(.push, of: principal, after: after, limit).map { QuarantineRules.entry($0, of: $1) }
    }

    /// Returns true if a quarantined push has a number.
    package func hasQuarantinedPush(_ id: Int64) async throws -> Bool {
        try await !store.rows(.named(.push, id)).isEmpty
    }

    /// Returns one quarantined push with its body.
    package func quarantinedPush(_ id: Int64) async throws -> QuarantinedPush? {
        guard let (principal, row) = try await index.principal(ofRow: .push, id) else { return nil }
        return try await accounts.read(principal) { try QuarantineRules.whole(row, of: &$0) }
    }

    /// Returns the rows of a kind by their numbers, all or one principal's, with the principals.
    private func rows(
        _ kind: RowKind, of principal: Principal?, after: Int64, _ limit: Int
    ) async throws -> [(ByteRow, Principal)] {
        let rows = try await rows(kind, of: principal, after: after, limit: limit)
        let names = try await index.principals(of: Set(rows.map(\.key.owner)))
        return rows.map { ($0, names.named($0.key.owner)) }
    }

    /// Returns the rows of a kind by their numbers, all or one principal's, at most 10,000.
    func rows(
        _ kind: RowKind, of principal: Principal?, after: Int64, limit: Int
    ) async throws -> ArraySlice<ByteRow> {
        guard let wanted = try await index.principals(behind: principal) else {
            return try await store.rows(.all(kind, after: after, limit: page(limit))).prefix(page(limit))
        }
        return try await store.load(wanted.map { .all(kind, of: $0.owner) }).joined()
            .filter { $0.number > after }.sorted { $0.number < $1.number }.prefix(page(limit))
    }

    /// Returns the lines in quarantine, the most recent first, at most 10,000.
    package func quarantined(limit: Int) async throws -> [QuarantineEntry] {
        // Lines whose records went out all the same have negative ranks.
        let lookups = [nil, Lookup.Mark(0, tie: .min)].map {
            Lookup.all(.line, by: .rank, after: $0, limit: page(limit), descending: true)
        }
        let rows = Set(try await store.load(lookups).joined())
        let entries = rows.compactMap { LineRules.entry($0) }
        return Array(entries.sorted { ($0.lastSeen, $0.id) > ($1.lastSeen, $1.id) }.prefix(page(limit)))
    }

    /// Returns the number of pushed records in quarantine, 10,000 at most; reads neither contents nor principals.
    package func quarantinedPushCount() async throws -> Int {
        try await store.rows(.all(.push, after: 0, limit: 10_000)).count
    }

    /// Returns the numbers of lines in the quarantine.
    package func quarantineCounts() async throws -> QuarantineCounts {
        let reasons = QuarantinedLine.Reason.allCases
        let rows = try await store.load(
            reasons.map { .count(.line, of: 0, prefix: LineRules.prefix($0)) } + [.row(MetaKey.droppedLines.row)])
        var counts = QuarantineCounts()
        for (reason, found) in zip(reasons, rows) {
            guard let count = found.first?.number, count > 0 else { continue }
            counts.byReason[reason] = Int(count)
            counts.entries += Int(count)
        }
        counts.dropped = Int(rows.last?.first?.number ?? 0)
        return counts
    }

    /// Returns quarantined stream lines by their numbers, beginning with the one after `after`: all, or those that came
    /// last for one principal.
    package func quarantinedLines(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantineEntry]
    {
        var (found, mark): ([QuarantineEntry], Lookup.Mark?) = ([], Lookup.Mark(after, tie: .max))
        while let start = mark, found.count < page(limit) {
            let rows = try await store.rows(.all(.line, by: .number, after: start, limit: 500, descending: false))
            found += rows.compactMap { LineRules.entry($0) }.filter { entry in
                guard let principal else { return true }
                // What cannot be read may be theirs.
                return entry.principal.belongs(to: principal) || entry.principal.rawValue.isEmpty
                    || Principal(damaged: entry.principal.owner) == principal
            }
            mark = rows.count < 500 ? nil : rows.last.map { Lookup.Mark($0.number, tie: $0.rank) }
        }
        return Array(found.prefix(page(limit)))
    }

    /// Returns one line.
    package func quarantinedLine(_ id: Int64) async throws -> QuarantineEntry? {
        try await store.rows(.named(.line, id)).first.flatMap { LineRules.entry($0) }
    }
}

/// Returns the number of rows to list: at most 10,000.
func page(_ limit: Int) -> Int { min(max(0, limit), 10_000) }
