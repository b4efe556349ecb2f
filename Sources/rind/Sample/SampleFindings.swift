// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import JSONBytes
import LineProjection
import SyncModel

/// The findings of a sample about the mapping: counts, and suspected mistakes.
struct SampleFindings {
    private struct BadIDs {
        var count = 0
        var reason: QuarantinedLine.Reason
        var example: String
    }

    private let schema: Schema
    private let schemaVersion: Int
    private let rules: EnvelopeRules
    /// False if only the shapes of values may be shown: the lines are of an account, not of the operator's own file.
    private let quotesValues: Bool

    private var records: [Int: Int] = [:]
    private var deletions = 0
    private var isComplete = false
    private var withoutToken: [String: Int] = [:]
    private var numberTokens: [String: Int] = [:]
    private var badIDs: [String: BadIDs] = [:]
    private var values: [Int: [Int: ValueFacts]] = [:]
    private var order = LineOrder()
    private var unmapped: [Int: UnmappedMembers] = [:]

    init(schema: Schema, schemaVersion: Int, rules: EnvelopeRules, quotesValues: Bool) {
        self.schema = schema
        self.schemaVersion = schemaVersion
        self.rules = rules
        self.quotesValues = quotesValues
    }

    /// Notes what became of a line.
    mutating func note(_ result: LineResult, type: String?, of projector: LineProjector, _ output: [UInt8]) {
        switch result {
        case .upsert(let table, _, _, let range):
            records[table, default: 0] += 1
            noteValues(table, Array(output[range]))
        case .delete, .deleteWhere: deletions += 1
        case .complete: isComplete = true
        case .ackOnly, .idMapping, .reset, .unknownType, .quarantined: return
        }
        if !projector.hasToken {
            withoutToken[type ?? "?", default: 0] += 1
        } else if projector.isTokenNumber {
            numberTokens[type ?? "?", default: 0] += 1
        }
        if let checkpoint = projector.lastCheckpoint { order.note(result, checkpoint, type: type ?? "?") }
    }

    /// Notes the members of a row that no column takes.
    mutating func noteMembers(_ line: JSONSlice, _ result: LineResult) {
        guard case .upsert(let table, _, _, _) = result, let data = line.member(rules.dataField) else { return }
        unmapped[table, default: UnmappedMembers(schema.tables[table])].note(data)
    }

    /// Notes why a line was quarantined.
    mutating func note(_ line: QuarantinedLine, number: Int) {
        guard line.reason == .noID || line.reason == .unsafeID else { return }
        let example = line.id.map { "'\(quoted($0).shown(upTo: 60))'" } ?? "line \(number)"
        let key = "\(line.table ?? "?"), \(line.type ?? "?")"
        badIDs[key, default: BadIDs(reason: line.reason, example: example)].count += 1
    }

    private mutating func noteValues(_ table: Int, _ record: [UInt8]) {
        let limits = JSONValue.Limits(bytes: .max, depth: 512, elements: .max)
        guard let record = try? JSONValue.parse(record, limits: limits) else { return }
        for (index, column) in schema.tables[table].columns.enumerated() {
            guard let value = record[column.name] else { continue }
            values[table, default: [:]][index, default: ValueFacts()].note(value, column.type)
        }
    }

    /// Returns the remarks at the end of the report.
    func summary(_ projector: LineProjector) -> [String] {
        let counters = projector.counters
        let quarantined = counters.quarantined.values.reduce(0, +)
        let unknown = counters.unknownTypes.values.reduce(0, +)
        let total = records.values.reduce(0, +)
        var lines = [
            "lines: \(counters.lines) · records: \(total) · deletions: \(deletions) · quarantined: \(quarantined) · "
                + "of unknown types: \(unknown)"
        ]
        for (reason, count) in counters.quarantined.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            lines.append("  \(reason.rawValue): \(count)")
        }
        let remarks = remarks(projector)
        func list(_ label: String, _ isWanted: (SampleRemark) -> Bool) -> [String] {
            remarks.filter(isWanted).map { "\(label): \($0.text)" }
        }
        let wrong = list("warning", \.isFault)
        lines += wrong.isEmpty ? ["Nothing looks wrong."] : ["\n\(Self.things(wrong.count, "look")) wrong:"] + wrong
        let odd = list("warning") { $0.certainty == .possible }
        if !odd.isEmpty { lines += ["\n\(Self.things(odd.count, "seem")) odd, and may be meant so:"] + odd }
        return lines + list("note") { $0.certainty == .inWholeSamples }
    }

    /// Returns what looks wrong in the mapping.
    func remarks(_ projector: LineProjector) -> [SampleRemark] {
        var remarks: [SampleRemark] = []
        for (index, table) in schema.tables.enumerated() where table.since <= schemaVersion {
            if records[index] == nil {
                let types = table.upsertTypes(at: schemaVersion).joined(separator: ", ")
                remarks.append(SampleRemark(.inWholeSamples, "\(table.name): no record came; looked for \(types)"))
            } else if let observer = projector.observer {
                remarks += advice(on: table, at: index, observer)
            }
        }
        remarks += unknownTypes(projector.counters)
        for (key, bad) in badIDs.sorted(by: { $0.key < $1.key }) {
            let what = bad.reason == .noID ? "without an id" : "with an id that apps cannot hold"
            remarks.append(
                SampleRemark(
                    .certain, "\(key): \(Self.lines(bad.count)) \(what), such as \(bad.example)",
                    hint: "to be quarantined: \(bad.reason.explanation)"))
        }
        for (type, count) in withoutToken.sorted(by: { $0.key < $1.key }) {
            remarks.append(
                SampleRemark(
                    .certain,
                    "\(type): \(Self.lines(count)) without a token in '\(rules.ackField)'; a stream cannot go on behind "
                        + "them"))
        }
        for (type, count) in numberTokens.sorted(by: { $0.key < $1.key }) {
            remarks.append(
                SampleRemark(
                    .likely,
                    "\(type): \(Self.lines(count)) whose token in '\(rules.ackField)' is a number; it goes back as a text, "
                        + "and a token should be one"))
        }
        remarks += order.remarks(schema)
        if let type = rules.completeType, !isComplete {
            remarks.append(
                SampleRemark(
                    .inWholeSamples, "no '\(type)' came; without it no pull ends well (fine for a piece of a stream)"))
        }
        return remarks
    }

    /// Returns the lines that would be quarantined for another reason than their ids, which a summary counts.
    func quarantineRemarks(_ counters: ProjectionCounters) -> [SampleRemark] {
        counters.quarantined.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { reason, count in
            guard reason != .noID, reason != .unsafeID else { return nil }
            return SampleRemark(
                .certain, "\(Self.lines(count)) to be quarantined (\(reason.rawValue))", hint: reason.explanation)
        }
    }

    private func advice(on table: Table, at number: Int, _ observer: ProjectionObserver) -> [SampleRemark] {
        table.columns.enumerated().filter { $0.element.since <= schemaVersion }.flatMap { index, column in
            var (facts, values) = (observer.facts(table: number, column: index), values[number]?[index])
            facts.wrongExample = facts.wrongExample.map(quoted)
            if !quotesValues { facts.words = [] }
            if let example = values?.dateExample { values?.dateExample = quoted(example) }
            return ColumnAdvice(
                table: table.name, column: column, facts: facts,
                records: observer.records(table: number, column: index), values: values,
                unmapped: unmapped[number]?.names ?? []
            ).remarks
        }
    }

    /// Returns a value as the remarks may show it.
    private func quoted(_ value: String) -> String { quotesValues ? value : ForeignText.shape(of: value) }

    private func unknownTypes(_ counters: ProjectionCounters) -> [SampleRemark] {
        counters.unknownTypes.sorted { $0.key < $1.key }.map { type, count in
            let name = type.isEmpty ? "further types" : type.shown(upTo: 60)
            let head = "\(name): \(Self.lines(count)) that nobody gets; "
            if let table = schema.tables.first(where: { Self.types(of: $0).contains(type) }) {
                return SampleRemark(
                    .possible, head + "the table \(table.name) is there since schema version \(table.since)")
            }
            let near = NearestName.of(type, among: schema.tables.flatMap(Self.types))
            let isAwaited = schema.tables.enumerated().contains { index, table in
                records[index] == nil && near.map { Self.types(of: table).contains($0) } ?? false
            }
            return SampleRemark(
                // A backend may stream what other clients want.
                isAwaited ? .likely : .possible,
                head + (near.map { "did you mean '\($0)'?" } ?? "no table names the type"),
                hint: "'upsert' and 'delete' of the tables, [backend] ack_types for lines without data")
        }
    }

    private static func types(of table: Table) -> [String] { table.upserts + table.deletes.map(\.type) }

    private static func things(_ count: Int, _ verb: String) -> String {
        count == 1 ? "1 thing \(verb)s" : "\(count) things \(verb)"
    }

    static func lines(_ count: Int) -> String { count == 1 ? "1 line" : "\(count) lines" }
}
