// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// Two tables of old, one that version 10 brings, and a column of each of the versions 4, 9, 10 and 12.
private let tables: [Table] = {
    var projects = Table.make("projects", upsert: "ProjectV1", columns: [.make("name", .string)])
    projects.columns.append(.make("color", .string, since: 10))
    var tasks = Table.make("tasks", upsert: "TaskV1", columns: [.make("title", .string)])
    tasks.columns += [
        .make("due", .number, since: 4), .make("done", .boolean, since: 9), .make("rank", .number, since: 12),
    ]
    var tags = Table.make("tags", upsert: "TagV1", columns: [.make("label", .string)])
    tags.since = 10
    tags.columns.append(.make("hue", .number, since: 12))
    return [projects, tasks, tags]
}()

private let nine = "tags; projects.color"
private let eight = "tags; projects.color, tasks.done"
private let three = "tags; projects.color, tasks.done, tasks.due"
private let everything = "projects, tags, tasks;"

/// A row of the table in `docs/SCHEMA.md`: what is known, and what comes of it.
struct NegotiationRow: CustomTestStringConvertible, Sendable {
    var lpa: Int?
    /// `migrations_enabled_at`: nil where it is not set, 0 where migrations are off.
    var mea: Int?
    var ls: Int?
    var cv: Int?
    /// The version that pushes have shown.
    var pushed: Int?
    var oldest = 2
    var version = 12
    /// `from→to: tables; columns`, an error's code, or nil for none.
    var migration: String?
    /// The LS of the new row.
    var recorded: Int?
    var note = ""

    init(
        _ lpa: Int?, mea: Int?, ls: Int?, cv: Int?, _ migration: String?, ls recorded: Int?, pushed: Int? = nil,
        oldest: Int = 2, version: Int = 12, _ note: String = ""
    ) {
        (self.lpa, self.mea, self.ls, self.cv, self.pushed) = (lpa, mea, ls, cv, pushed)
        (self.oldest, self.version) = (oldest, version)
        (self.migration, self.recorded, self.note) = (migration, recorded, note)
    }

    var testDescription: String {
        func text(_ number: Int?) -> String { number.map(String.init) ?? "none" }
        return "LPA \(lpa.map(String.init) ?? "null") | MEA \(text(mea)) | LS \(text(ls)) | CV \(text(cv))"
            + (pushed.map { " (pushes show \($0))" } ?? "") + " → \(migration ?? "none") | LS := \(text(recorded))"
            + (note.isEmpty ? "" : " | \(note)")
    }

    var decision: SchemaNegotiator.Decision {
        let schema = Schema(version: version, oldest: oldest, migrationsEnabledAt: mea, tables: tables)
        return SchemaNegotiator(schema).decide(.init(isFirst: lpa == nil, last: ls, stated: cv, inferred: pushed))
    }

    var outcome: String? {
        switch decision.outcome {
        case .nothing: return nil
        case .refuse(let refusal): return refusal.code
        case .migrate(let change): return change.text
        }
    }
}

extension SchemaChange {
    fileprivate var text: String {
        let columns = columns.flatMap { table, names in names.map { "\(table).\($0)" } }.sorted()
        return "\(from)→\(to): \(tables.sorted().joined(separator: ", "));"
            + (columns.isEmpty ? "" : " " + columns.joined(separator: ", "))
    }
}

@Suite struct SchemaNegotiatorTests {
    static let table: [NegotiationRow] = [
        .init(nil, mea: nil, ls: nil, cv: 10, nil, ls: 10, "first sync; everything the version knows"),
        .init(nil, mea: 11, ls: nil, cv: 10, nil, ls: 10, "first sync, whatever MEA"),
        .init(100, mea: 0, ls: nil, cv: 10, nil, ls: nil, "not migration-aware"),
        .init(100, mea: 0, ls: 9, cv: 10, nil, ls: 9, "not migration-aware, whatever LS"),
        .init(100, mea: 0, ls: 11, cv: 10, nil, ls: 11, "not migration-aware: no error either"),
        .init(100, mea: 9, ls: 10, cv: 10, nil, ls: 10, "up to date"),
        .init(100, mea: 10, ls: 10, cv: 10, nil, ls: 10, "up to date, since MEA"),
        .init(100, mea: 9, ls: 9, cv: 10, "9→10: " + nine, ls: 10),
        .init(100, mea: 9, ls: nil, cv: 10, "9→10: " + nine, ls: 10, "fallback: LS is unknown, MEA stands in"),
        .init(100, mea: 9, ls: 11, cv: 10, "schema.went_back", ls: 11, "LS > CV: programmer error"),
        .init(100, mea: 11, ls: 10, cv: 10, "schema.migrations_enabled_at", ls: 10, "MEA > CV: programmer error"),
        .init(100, mea: 11, ls: nil, cv: 10, "schema.migrations_enabled_at", ls: nil, "MEA > CV, whatever LS"),
    ]

    /// What the genuine client does beyond the table, and what a gateway meets besides.
    static let further: [NegotiationRow] = [
        .init(100, mea: 9, ls: 8, cv: 10, "8→10: " + eight, ls: 10, "LS below MEA: LS is what the data are of"),
        .init(100, mea: 10, ls: nil, cv: 10, nil, ls: nil, "LS unknown, MEA the version itself: nothing to add"),
        .init(100, mea: nil, ls: nil, cv: 10, "2→10: " + three, ls: 10, "MEA not set: the oldest version stands in"),
        .init(100, mea: nil, ls: 9, cv: 10, "9→10: " + nine, ls: 10, "MEA not set, LS known"),
        .init(
            100, mea: nil, ls: 3, cv: 10, "3→10: " + everything, ls: 10, oldest: 5,
            "LS older than the oldest version: all is fetched again"),
        .init(
            100, mea: 3, ls: nil, cv: 10, "3→10: " + everything, ls: 10, oldest: 5,
            "MEA older than the oldest version stands in: all is fetched again"),
        .init(100, mea: nil, ls: 10, cv: 11, nil, ls: 11, "a version that brought nothing"),
        .init(100, mea: nil, ls: 12, cv: 13, nil, ls: 12, "CV newer than configured: it has the newest that is known"),
        .init(
            100, mea: nil, ls: 9, cv: 13, "9→10: " + nine, ls: 10, version: 10,
            "CV newer than configured, LS older: up to the newest that is known"),
        .init(nil, mea: nil, ls: nil, cv: 99, nil, ls: 12, "first sync of a client newer than configured"),
        .init(100, mea: nil, ls: 12, cv: 12, nil, ls: 10, version: 10, "the configuration has gone back: not an error"),
        .init(nil, mea: nil, ls: nil, cv: nil, nil, ls: nil, "no schema_version, first sync: unknown"),
        .init(100, mea: nil, ls: nil, cv: nil, nil, ls: nil, "no schema_version, and pushes have shown none"),
        .init(100, mea: nil, ls: nil, cv: nil, nil, ls: 2, pushed: 2, "pushes show the oldest version"),
        .init(100, mea: nil, ls: nil, cv: nil, "2→10: " + three, ls: 10, pushed: 10, "pushes show a newer one"),
        .init(100, mea: nil, ls: 10, cv: nil, nil, ls: 10, pushed: 10, "what pushes show is up to date"),
        .init(100, mea: nil, ls: 10, cv: nil, nil, ls: 10, pushed: 9, "pushes have shown less: no error"),
        .init(100, mea: 11, ls: nil, cv: nil, nil, ls: 10, pushed: 10, "MEA > what pushes show: no error"),
        .init(100, mea: nil, ls: 9, cv: nil, nil, ls: 9, "no schema_version any more, LS known"),
        .init(100, mea: nil, ls: 9, cv: 10, "9→10: " + nine, ls: 10, pushed: 9, "what the client tells counts"),
    ]

    @Test(arguments: table) func `the table of the design`(row: NegotiationRow) {
        #expect(row.outcome == row.migration)
        #expect(row.decision.recorded == row.recorded)
    }

    @Test(arguments: further) func `what the table leaves open`(row: NegotiationRow) {
        #expect(row.outcome == row.migration)
        #expect(row.decision.recorded == row.recorded)
    }

    @Test func `only of tables that came after a known version a device certainly has nothing`() {
        let known = NegotiationRow(100, mea: 9, ls: 9, cv: 10, nil, ls: nil).decision.change
        #expect(known?.empty == ["tags"])
        let guessed = NegotiationRow(100, mea: 9, ls: nil, cv: 10, nil, ls: nil).decision.change
        #expect(guessed?.empty == [])
        let tooOld = NegotiationRow(100, mea: nil, ls: 3, cv: 10, nil, ls: nil, oldest: 5).decision.change
        #expect(tooOld?.empty == [])
    }
}

@Suite struct ClientMigrationTests {
    private static func decide(
        ls: Int?, cv: Int?, mea: Int? = nil, _ requested: Migration, isFirst: Bool = false
    ) -> SchemaNegotiator.Decision {
        SchemaNegotiator(Schema(version: 12, oldest: 2, migrationsEnabledAt: mea, tables: tables))
            .decide(.init(isFirst: isFirst, last: ls, stated: cv, requested: requested))
    }

    @Test func `what a client asks for is added to what was computed`() {
        let asked = Migration(from: 10, tables: ["projects"], columns: [.init(table: "tasks", columns: ["done"])])
        let decision = Self.decide(ls: 9, cv: 10, asked)
        #expect(decision.change?.text == "9→10: projects, tags; tasks.done")
        // What it asks for beyond that it may have all the same.
        #expect(decision.change?.empty == ["tags"])
        #expect(decision.recorded == 10)
    }

    @Test func `a client that asks is served even where migrations are off or nothing is due`() {
        let asked = Migration(from: 9, tables: ["tags"], columns: [.init(table: "projects", columns: ["color"])])
        let off = Self.decide(ls: nil, cv: 10, mea: 0, asked)
        #expect(off.change?.text == "9→10: " + nine)
        #expect(off.change?.empty == [])
        #expect(off.recorded == nil)
        let upToDate = Self.decide(ls: 10, cv: 10, asked)
        #expect(upToDate.change?.text == "9→10: " + nine)
        #expect(upToDate.recorded == 10)
        #expect(Self.decide(ls: nil, cv: nil, asked).change?.text == "9→12: " + nine)
    }

    @Test func `tables and columns that its version does not have are left out and told`() {
        let asked = Migration(
            from: 9, tables: ["tags", "passwords"],
            columns: [
                .init(table: "projects", columns: ["color", "_status"]), .init(table: "users", columns: ["hash"]),
                .init(table: "tasks", columns: ["rank"]),
            ])
        let decision = Self.decide(ls: 9, cv: 10, asked)
        #expect(decision.change?.text == "9→10: " + nine)
        #expect(decision.unknown == ["passwords", "projects._status", "users.hash", "tasks.rank"])
    }

    @Test func `nothing that is known means no migration`() {
        let decision = Self.decide(ls: 10, cv: 10, Migration(from: 9, tables: ["passwords"]))
        #expect(decision.outcome == .nothing)
        #expect(decision.unknown == ["passwords"])
        #expect(Self.decide(ls: 10, cv: 10, Migration(from: 9)).outcome == .nothing)
    }

    @Test func `a first sync and a refusal have no migration, whatever is asked for`() {
        let asked = Migration(from: 9, tables: ["tags"])
        #expect(Self.decide(ls: nil, cv: 10, asked, isFirst: true).outcome == .nothing)
        #expect(
            Self.decide(ls: 11, cv: 10, asked).outcome == .refuse(.wentBack(from: 11, to: 10)))
    }
}
