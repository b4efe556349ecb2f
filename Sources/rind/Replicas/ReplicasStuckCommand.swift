// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import Gateway
import GatewayConfig
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind replicas stuck`.
struct ReplicasStuckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stuck", abstract: "Lists the replicas that try and do not get on, with the reason.",
        discussion: """
            EXAMPLES
              rind replicas stuck --config rind.ini
              rind replicas stuck --config rind.ini --json | jq '.stuck[].id'

            REASONS
              same_cursor   it comes again with a cursor for which it has got an answer
              first_sync    it comes again without a cursor: no first sync has arrived
              pull_fails    its pulls fail
              push_fails    its pushes fail

            When that counts is up to '[admin] stuck_repeats', 'stuck_pushes' and
            'stuck_after'. A replica that has not tried for a week is away, not stuck.
            One leaves the list when it gets on. At most one time a minute is counted.
            """)

    @Option(help: ArgumentHelp("At most so many, 1 to 10000.", valueName: "number"))
    var limit = 100

    @OptionGroup var state: StateArguments

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("'--limit' takes 1 to 10000.") }
    }

    func run() async throws {
        try await state.run(for: .reading) { store, configuration in
            let found = try await store.inspection.stuckDevices(
                by: configuration.admin.stuckRule, since: SystemClock().now - StuckRule.unseen, limit: limit + 1)
            return StuckList(troubles: Array(found.prefix(limit)), hasMore: found.count > limit)
        }
    }
}

/// The stuck replicas.
struct StuckList: StateReport {
    let troubles: [DeviceTrouble]
    let hasMore: Bool

    private static let columns: [TextTable.Column] = [
        "REPLICA", "PRINCIPAL", .scope, "REASON", "TIMES", "SINCE", "LAST", "CODE",
    ]

    var lines: [String] {
        guard !troubles.isEmpty else { return ["no stuck replicas"] }
        let rows = troubles.map { trouble in
            [
                trouble.replica.description, trouble.principal.description, trouble.principal.shownScope,
                trouble.kind.rawValue, String(trouble.count), MomentText.seconds(trouble.since),
                MomentText.seconds(trouble.lastAt), trouble.code.isEmpty ? "-" : trouble.code.shown(upTo: 60),
            ]
        }
        var lines = TextTable(columns: Self.columns, rows: rows).lines
        if hasMore { lines.append("there are more: --limit") }
        let kinds = DeviceTrouble.Kind.allCases.filter { kind in troubles.contains { $0.kind == kind } }
        return lines + [""] + kinds.map { "\($0.rawValue): \($0.advice)" }
    }

    var json: JSONValue {
        .object([
            "stuck": .array(
                troubles.map { trouble in
                    let rest: [JSONValue.Member] = [
                        .init("reason", .string(trouble.kind.rawValue)), .init("times", .integer(trouble.count)),
                        .init("since", .moment(trouble.since)), .init("last_at", .moment(trouble.lastAt)),
                        .init("code", .string(trouble.code)), .init("advice", .string(trouble.kind.advice)),
                    ]
                    let own = JSONValue.Member("id", .string(trouble.replica.description))
                    return .object([own] + trouble.principal.members + rest)
                }), "more": .bool(hasMore),
        ])
    }
}
