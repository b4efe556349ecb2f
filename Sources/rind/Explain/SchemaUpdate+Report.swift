// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

extension SchemaUpdate: StateReport {
    var lines: [String] {
        if let refusal {
            return [
                "From schema version \(from) to \(to): the gateway answers \(refusal.status) (\(refusal.code)).", "",
                refusal.message, "hint: \(refusal.hint)",
            ]
        }
        return ["From schema version \(from) to \(to): \(headline)"] + notes + tables.flatMap(lines)
            + [""] + typeLines + [""] + closing
    }

    /// The outcome, in half a sentence.
    private var headline: String {
        switch answer {
        case .migrate: "the first pull after the update fetches what was added."
        case .nothing where isGaining: "what was added is not fetched, because migrations are switched off."
        case .nothing, .refuse: "nothing was added."
        }
    }

    /// The remarks about the versions.
    var notes: [String] {
        var notes: [String] = []
        if to > schema.version {
            notes.append(
                "The configuration describes versions up to \(schema.version): the app gets the tables of that one, and "
                    + "the rest once the configuration has it.")
        }
        if from < schema.oldest, answer == .migrate {
            notes.append(
                "The configuration need not tell what came before version \(schema.oldest), so that all tables are "
                    + "fetched again.")
        }
        if answer == .nothing, isGaining {
            notes.append(
                "[schema] migrations_enabled_at is 0: a gained column comes when its table is compared, which the new "
                    + "version makes due; in a table without a ledger, with a record's next change."
            )
        }
        return notes
    }

    private func lines(of table: TableUpdate) -> [String] {
        guard let title = table.title else { return [] }
        var lines = ["", title]
        lines.append(Self.line("streamed", table.course))
        if let delivered = table.delivered { lines.append(Self.line("goes out", delivered)) }
        if counts != nil, !table.restarted.isEmpty {
            let atMost = table.continued.isEmpty ? "about" : "at most"
            let unknown = table.isLedgered ? "not known: no device of theirs has it" : "not known: it has no ledger"
            lines.append(Self.line("records", table.records.map { "\(atMost) \($0)" } ?? unknown))
        }
        return lines
    }

    private static func line(_ name: String, _ value: String) -> String { "  " + name.padded(to: 10) + value }

    private var typeLines: [String] {
        let width = types.map(\.name.count).max() ?? 0
        var lines = ["The backend is asked for"]
        lines += types.map { type in
            let start = type.isFromBeginning ? "from the beginning" : "from where the device has got to"
            let replaced = type.replaced.isEmpty ? "" : ", in place of \(type.replaced.joined(separator: ", "))"
            let new = type.isNew ? ", new\(replaced)" : replaced
            return "  \(type.name.padded(to: width))  \(start)\(new)"
        }
        if types.isEmpty { lines = ["The backend is asked for nothing: the app has no table."] }
        if !left.isEmpty {
            lines.append("and no longer for \(left.joined(separator: ", ")), whose checkpoints are dropped.")
        }
        return lines
    }

    private var closing: [String] {
        var lines = [
            restarted.isEmpty ? "Nothing is streamed again." : "Nothing else is streamed again."
        ]
        if answer == .migrate {
            lines[0] += " It is one answer: where it is lost, the next pull fetches the same."
        }
        if let recorded, recorded != to, recorded != from {
            lines.append("What is remembered is version \(recorded).")
        }
        return lines + countLines
    }

    private var countLines: [String] {
        guard let counts else { return [] }
        let one = counts.replicas == 1
        let have = one ? "1 replica" : "\(counts.replicas) replicas"
        let owner = "\(counts.principal) has \(have), \(counts.replicas(at: from)) of version \(from)."
        guard !restarted.isEmpty else { return [owner] }
        let records = "For each device about \(estimate) \(estimate == 1 ? "record is" : "records are") streamed again"
        let rest = uncounted.isEmpty ? "." : ", and those of \(uncounted.joined(separator: ", "))."
        return [owner, records + rest]
    }

    /// The known number of records that are streamed again.
    var estimate: Int { restarted.reduce(0) { $0 + ($1.records ?? 0) } }

    /// The tables that are streamed again and whose number of records is unknown.
    var uncounted: [String] { restarted.filter { $0.records == nil }.map(\.name) }
}

extension SchemaUpdate {
    var json: JSONValue {
        .object([
            "from": .integer(from), "to": .integer(to), "version": .integer(version),
            "answer": .string(answer.rawValue), "status": .integer(refusal.map { Int64($0.status) }),
            "code": .string(refusal?.code), "message": .string(refusal?.message), "hint": .string(refusal?.hint),
            "recorded": .integer(recorded.map(Int64.init)), "notes": .array(notes.map { .string($0) }),
            "tables": .array(tables.map(json)), "request_types": .array(types.map(Self.json)),
            "no_longer": .array(left.map { .string($0) }), "principal": .string(counts?.principal.description),
            "replicas": .integer(counts.map { Int64($0.replicas) }),
            "replicas_at_from": .integer(counts.map { Int64($0.replicas(at: from)) }),
            "records": .integer(counts == nil || answer == .refuse ? nil : Int64(estimate)),
            "uncounted": .array(counts == nil ? [] : uncounted.map { .string($0) }),
        ])
    }

    private func json(_ table: TableUpdate) -> JSONValue {
        .object([
            "table": .string(table.name), "gains": .string(table.gain.rawValue),
            "columns": .array(table.columns.map { .string($0) }),
            "from_beginning": .array(table.restarted.map { .string($0) }),
            "continued": .array(table.continued.map { .string($0) }),
            "delivery": .string(table.delivery?.rawValue),
            "records": .integer(table.records.map(Int64.init)),
        ])
    }

    private static func json(_ type: TypeUpdate) -> JSONValue {
        .object([
            "request_type": .string(type.name), "new": .bool(type.isNew),
            "replaces": .array(type.replaced.map { .string($0) }), "from_beginning": .bool(type.isFromBeginning),
        ])
    }
}

extension TableUpdate {
    /// The change of the table; nil if nothing changes.
    fileprivate var title: String? {
        switch gain {
        case .table: "\(name) is new"
        case .unknown: "\(name) is fetched again"
        case .columns: "\(name) gains \(columns.joined(separator: ", "))"
        case .nothing where restarted.isEmpty: nil
        case .nothing: "\(name) gains nothing, and its lines come anew"
        }
    }

    fileprivate var course: String {
        let types = continued.joined(separator: ", ")
        guard !restarted.isEmpty else { return "what has changed, as ever" }
        return "everything of \(restarted.joined(separator: ", "))"
            + (continued.isEmpty ? "" : "; of \(types) what has changed")
    }

    fileprivate var delivered: String? {
        switch delivery {
        case nil: nil
        case .created: "every row, in 'created'"
        case .updated where !isLedgered: "every row, in 'updated': the table has no ledger to compare with"
        case .updated: "every row, in 'updated': the device may have them"
        case .gained:
            "rows with a value in \(columns.count == 1 ? columns[0] : "one of these"), and rows that differ from the "
                + "device's"
        case .differences: "rows that differ from the device's"
        }
    }
}
