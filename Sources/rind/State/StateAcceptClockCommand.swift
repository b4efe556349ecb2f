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

/// `rind state accept-clock`.
struct StateAcceptClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-clock", abstract: "Goes on with a state that was written while the clock was ahead.",
        discussion: """
            EXAMPLE
              rind state accept-clock --config rind.ini
              rind state accept-clock --config rind.ini --yes

            The gateway hands out no cursor twice, so it does not start while the clock is
            behind the newest one (pull.clock_behind). If the clock is right now, and was
            far ahead, this command lets cursors run ahead of the clock, by as much as it
            was, for ever. No device notices, and nothing is sent anew. Without '--yes' it
            only says what it would do. Set the clock right first, and stop every gateway.
            """)

    @Flag(help: "Do it.")
    var yes = false

    @OptionGroup var state: StateArguments

    func run() async throws {
        try await state.runAsGateway { store, _ in
            try await Self.accept(store, at: SystemClock().now, isWanted: yes)
        }
    }

    private static func accept(
        _ store: CommandState, at now: Instant, isWanted: Bool
    ) async throws -> ClockAcceptance {
        let newest = try await store.newestCursor()?.time ?? 0
        let lag = newest.milliseconds(since: now + store.cursorLead)
        guard lag > 0, isWanted else {
            return ClockAcceptance(now: now, newest: newest, lag: lag, lead: store.cursorLead, isChanged: false)
        }
        let lead = try await store.commands.acceptClock(at: now)
        return ClockAcceptance(now: now, newest: newest, lag: lag, lead: lead, isChanged: true)
    }
}

/// The result.
struct ClockAcceptance: StateReport {
    let now: Instant
    let newest: Instant
    /// The time by which the clock, with the lead, is behind the newest cursor, in milliseconds.
    let lag: Int64
    let lead: Int64
    let isChanged: Bool

    var lines: [String] {
        let head = [
            "clock          \(TimeText.utc(now))", "newest cursor  \(TimeText.utc(newest))",
            "cursors lead   \(lead) ms",
        ]
        if isChanged { return head + ["Cursors now run ahead of the clock; start the gateway."] }
        if lag <= 0 { return head + ["The clock is not behind the state; nothing was changed."] }
        return head + [
            "The clock is \(lag) ms behind the state. If it is right now, run this again with --yes; nothing was changed."
        ]
    }

    var json: JSONValue {
        .object([
            "clock": .moment(now), "newest": .moment(newest), "cursor_lead": .integer(lead),
            "changed": .bool(isChanged),
        ])
    }
}
