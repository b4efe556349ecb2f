// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import JSONBytes
import Ledger
import StateStore
import SyncModel

extension WhyReport: StateReport {
    var lines: [String] { ["\(table.name) \(id) on \(row.id)\(inScope)", ""] + sentences + history }

    private var inScope: String { row.principal.scope.map { " in \($0.shown(upTo: 200))" } ?? "" }

    var json: JSONValue {
        .object([
            "replica": .string(row.id.description), "scope": .string(row.principal.scope), "table": .string(table.name),
            "id": .string(id),
            "holds": holds.map { .bool($0) } ?? .null, "verdict": .string(verdict.rawValue),
            "cursor": .integer(finding.cursor?.rawValue), "confirmed_cursor": .integer(finding.confirmed?.rawValue),
            "has_ledger": .bool(finding.hasLedger), "exact": .bool(finding.isExact),
            "pending": .bool(finding.isPending),
            "content": .string(entry?.content.map(Self.hexadecimal)),
            "deleted_at": entry?.state == .tombstone ? .moment(entry?.goneAt) : .null,
            "sources": .array(feeds.map { .string($0) }), "parents": .array(finding.parents.map(Self.json)),
            "note": finding.note.map(json) ?? .null, "refusal": finding.refusal?.json ?? .null,
            "quarantine": .array(finding.quarantined.map(Self.json)),
            "quarantined_without_id": .integer(finding.unreadable), "history": .array(finding.sights.map(Self.json)),
            "sentences": .array(sentences.map { .string($0) }),
        ])
    }

    private func json(_ note: PushNote) -> JSONValue {
        let state =
            switch note.state {
            case .seen: "seen"
            case .held: "held"
            case .gone: "gone"
            case .refused: "refused"
            }
        return .object([
            "state": .string(state), "sequence": .integer(note.sequence), "is_new": .bool(finding.isNoteNew),
        ])
    }

    private static func json(_ sight: RecordFinding.Sight) -> JSONValue {
        let (origin, cursor): (String, Cursor) =
            switch sight.origin {
            case .cursor(let cursor): ("cursor", cursor)
            case .base(let cursor): ("base", cursor)
            case .before(let cursor): ("before", cursor)
            }
        return .object([
            "place": .string(origin), "cursor": .integer(cursor.rawValue), "state": .string(word(sight.entry.state)),
            "content": .string(sight.entry.content.map(hexadecimal)),
        ])
    }

    private static func json(_ parent: RecordFinding.Parent) -> JSONValue {
        .object([
            "column": .string(parent.column), "table": .string(parent.table), "id": .string(parent.id),
            "held": .bool(parent.isHeld), "digest": .string(hexadecimal(parent.digest)),
        ])
    }

    private static func json(_ entry: QuarantineEntry) -> JSONValue {
        .object([
            "reason": .string(entry.line.reason.rawValue), "type": .string(entry.line.type),
            "principal": .string(entry.principal.description), "count": .integer(entry.count),
            "first_seen": .moment(entry.firstSeen), "last_seen": .moment(entry.lastSeen),
        ])
    }
}
