// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import GatewayConfig
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind journal`.
struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Lists pushes by calls that are in progress or were interrupted.",
        discussion: """
            EXAMPLES
              rind journal list --config rind.ini
              rind journal show 12 --config rind.ini

            Only pushes by calls have a journal: a stream push is applied as a whole or not
            at all. One that was applied leaves none. Both commands work while the gateway
            runs, and change nothing.
            """,
        subcommands: [JournalListCommand.self, JournalShowCommand.self])
}

/// `rind journal list`.
struct JournalListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists journals, the oldest first.",
        discussion: """
            EXAMPLES
              rind journal list --config rind.ini
              rind journal list --principal 5f0c1a7e90b2 --config rind.ini
              rind journal list --user 42 --config rind.ini
              rind journal list --limit 1000 --after 1000 --config rind.ini --json

            STATE is 'open' while the push runs, and after it was cut off until its
            principal comes again; 'failed' where its client heard that not everything was
            applied; 'closed' where it was open and was resolved since. APPLIED is how many
            of the operations the backend has. REASON is a code of docs/ERRORS.md, with
            what the backend said; none where the gateway was stopped.
            """)

    @OptionGroup var state: StateArguments

    @OptionGroup var owner: PrincipalArgument

    @Option(help: ArgumentHelp("How many at most, 1 to 5000.", valueName: "n"))
    var limit = 100

    @Option(help: ArgumentHelp("Only those behind this one, the last of a list before.", valueName: "number"))
    var after: Int64 = 0

    func validate() throws {
        guard (1...5_000).contains(limit) else { throw ValidationError("'--limit' takes 1 to 5000.") }
        guard after >= 0 else { throw ValidationError("'--after' takes the number of a journal.") }
    }

    func run() async throws {
        try await state.run(for: .reading) { store, configuration in
            // One more than asked for, to see whether there are more.
            let journals = try await store.inspection.journals(
                of: try await owner.find(in: store, configuration), after: after, limit: limit + 1)
            return JournalList(
                journals: Array(journals.prefix(limit)), hasMore: journals.count > limit,
                hasStreamPush: configuration.push.path != nil)
        }
    }
}

/// The output of 'list'.
private struct JournalList: StateReport {
    let journals: [PushJournal]
    let hasMore: Bool
    /// True if pushes are requests of several lines, which have no journal.
    let hasStreamPush: Bool

    private static let columns: [TextTable.Column] = [
        "JOURNAL", "PRINCIPAL", .scope, "STATE", "APPLIED", "REASON", "RECORD", "BEGAN", "LAST",
    ]

    var lines: [String] {
        guard !journals.isEmpty else {
            return [
                hasStreamPush
                    ? "no journal: with '[push] path' a push has none, whether it runs or was interrupted"
                    : "no push by calls is in progress, and none was interrupted"
            ]
        }
        let rows = journals.map { journal in
            [
                String(journal.id), journal.principal.description, journal.principal.shownScope,
                journal.state.rawValue, journal.unlessDamaged("\(journal.applied) of \(journal.operations)"),
                (journal.reason ?? "-").shown(upTo: 60),
                (journal.failure?.record).map { "\($0.table) \($0.id)" }?.shown(upTo: 60) ?? "-",
                journal.unlessDamaged(MomentText.seconds(journal.startedAt)),
                journal.unlessDamaged(MomentText.seconds(journal.changedAt)),
            ]
        }
        var lines = TextTable(columns: Self.columns, rows: rows).lines
        if hasMore, let last = journals.last { lines.append("there are more: --after \(last.id)") }
        return lines
    }

    var json: JSONValue {
        .object([
            "journals": .array(journals.map { .object($0.members) }),
            "next": .integer(hasMore ? journals.last?.id : nil),
        ])
    }
}

/// `rind journal show`.
struct JournalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one journal, with the operations whose outcome is unknown.",
        discussion: """
            EXAMPLES
              rind journal show 12 --config rind.ini
              rind journal show 12 --config rind.ini --json

            'unknown' lists operations that were sent or about to be sent, and whose
            outcome is unknown. Updates, deletions and creations under the app's own id
            need nothing: the app sends them again, and they are idempotent. If a
            creation's record gets its id from the backend, the gateway looks for it when
            the principal comes again. 'lost' counts the creations whose outcome it could
            not find: their records may be in the backend twice.
            """)

    @Argument(help: ArgumentHelp("The number, as 'list' shows it.", valueName: "number"))
    var number: Int64

    @OptionGroup var state: StateArguments

    func run() async throws {
        try await state.run(for: .reading) { store, _ in
            guard let found = try await store.inspection.journal(number) else {
                throw CommandFailure(.noInput, "There is no journal \(number). 'rind journal list' shows all.")
            }
            return JournalReport(journal: found.journal, inFlight: found.inFlight)
        }
    }
}

/// The output of 'show'.
private struct JournalReport: StateReport {
    let journal: PushJournal
    let inFlight: [InFlightOperation]

    private static func line(_ name: String, _ value: String) -> String { name.padded(to: 12) + value }

    var lines: [String] {
        var lines = [Self.line("journal", String(journal.id))] + journal.principal.lines
        lines += [
            Self.line("state", journal.state.rawValue),
            Self.line("cursor", journal.presented.map(\.description) ?? "none"),
            Self.line("began", MomentText.seconds(journal.startedAt)),
            Self.line("last", MomentText.seconds(journal.changedAt)),
            Self.line("applied", "\(journal.applied) of \(journal.operations)"),
        ]
        if journal.rejected > 0 { lines.append(Self.line("rejected", String(journal.rejected))) }
        if journal.found > 0 { lines.append(Self.line("found", String(journal.found))) }
        if journal.lost > 0 { lines.append(Self.line("lost", String(journal.lost))) }
        if let reason = journal.reason { lines.append(Self.line("reason", reason.shown(upTo: 1_024))) }
        if let record = journal.failure?.record {
            lines.append(Self.line("record", "\(record.table) \(record.id)".shown(upTo: 1_024)))
        }
        guard !inFlight.isEmpty else { return lines }
        return lines + ["", "unknown"]
            + inFlight.map { "  \($0.kind.rawValue) \($0.record.table) \($0.record.id)".shown(upTo: 1_024) }
    }

    var json: JSONValue {
        let unknown = inFlight.map { operationInFlight in
            JSONValue.object([
                "change": .string(operationInFlight.kind.rawValue), "table": .string(operationInFlight.record.table),
                "record": .string(operationInFlight.record.id), "makes_id": .bool(operationInFlight.makesID),
            ])
        }
        return .object(journal.members + [.init("unknown", .array(unknown))])
    }
}

extension PushJournal {
    /// The code, with what else is known of why.
    fileprivate var reason: String? { failure.map { $0.code + ($0.message.map { ": \($0)" } ?? "") } }

    /// Returns a text of what an undamaged journal knows.
    fileprivate func unlessDamaged(_ text: String) -> String { isDamaged ? "-" : text }

    /// The members that both 'list' and 'show' have.
    fileprivate var members: [JSONValue.Member] {
        var rest: [JSONValue.Member] = [
            .init("state", .string(state.rawValue)), .init("cursor", .integer(presented?.rawValue)),
            .init("began", .moment(startedAt)), .init("last", .moment(changedAt)),
            .init("operations", .integer(operations)), .init("applied", .integer(applied)),
            .init("rejected", .integer(rejected)), .init("found", .integer(found)), .init("lost", .integer(lost)),
            .init("code", .string(failure?.code)), .init("message", .string(failure?.message)),
            .init("table", .string(failure?.record?.table)), .init("record", .string(failure?.record?.id)),
        ]
        if isDamaged { rest = rest.unknown(but: ["state", "code"]) }
        return [JSONValue.Member("journal", .integer(id))] + principal.members + rest
    }
}
