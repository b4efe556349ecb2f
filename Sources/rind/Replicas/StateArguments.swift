// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayConfig
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// The arguments of all commands on the state.
struct StateArguments: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The configuration file, which names the state.", valueName: "file"))
    var config: String

    @Flag(help: "Print one JSON object instead of text; its names are in docs/OPERATIONS.md and stay.")
    var json = false

    /// Runs a command on the state and prints what comes of it, as text or as JSON.
    func run(
        for purpose: SQLiteStateStore.Purpose,
        _ body: (CommandState, GatewayConfig.Configuration) async throws -> any StateReport
    ) async throws {
        try await run { configuration in
            try await configuration.withState(for: purpose) { try await body($0, configuration) }
        }
    }

    /// Runs a command that opens the state as a gateway does, which no gateway may do meanwhile; makes none.
    func runAsGateway(
        _ body: (CommandState, GatewayConfig.Configuration) async throws -> any StateReport
    ) async throws {
        try await run { configuration in
            try await configuration.withState(for: .reading) { _ in }
            return try await configuration.closing(try await configuration.openState(logger: .silent)) {
                try await body($0, configuration)
            }
        }
    }

    /// Runs a command that may do without the state, and prints what comes of it, as text or as JSON.
    func run(_ body: (GatewayConfig.Configuration) async throws -> any StateReport) async throws {
        try await reportingFailures {
            Console.ignoreBrokenPipes()
            let report = try await body(try GatewayConfig.Configuration.loadReporting(config, warns: false))
            Console.show(report, asJSON: json)
        }
    }
}

extension Console {
    /// Prints what has come of a command on the state.
    static func show(_ report: any StateReport, asJSON json: Bool) {
        if json {
            out(bytes: ForeignText.escapedJSON(report.json.serialised) + [0x0A])
        } else {
            for line in report.lines { out(line) }
        }
    }
}

/// The output of a command on the state.
protocol StateReport {
    /// The text for reading.
    var lines: [String] { get }
    /// The JSON for programs: one object, whose names never change.
    var json: JSONValue { get }
}

extension JSONValue {
    /// Creates an object of these members, in this order.
    static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member($0.key, $0.value) })
    }

    /// Creates a number.
    static func integer(_ value: Int) -> JSONValue { .integer(Int64(value)) }

    /// Creates a number, or null.
    static func integer(_ value: Int64?) -> JSONValue { value.map { .integer($0) } ?? .null }

    /// Returns a moment as the milliseconds since 1970, or null.
    static func moment(_ value: Instant?) -> JSONValue { .integer(value?.milliseconds) }

    /// Creates a text, or null.
    static func string(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
