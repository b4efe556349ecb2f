// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayConfig
import SQLiteState
import StateStore
import SyncModel

/// `rind explain schema`.
struct ExplainSchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Tells what an app that updates from one schema version to another will fetch, and why.",
        discussion: """
            EXAMPLES
              rind explain schema --config rind.ini
              rind explain schema --config rind.ini --from 9 --to 12
              rind explain schema --config rind.ini --from 9 --principal 5f0c1a7e90b2
              rind explain schema --config rind.ini --from 9 --to 12 --json

            Without '--from' it lists the schema versions and what each of them brought:
            'since N' on tables, columns and request types is that history. Run it on a new
            configuration before the app is released.

            With '--from' it tells what the first pull after an update does. A table that
            is new is streamed from its beginning; one that gains columns is streamed
            again, and only rows go out that have something in them, or differ; a request
            type that takes the place of another begins at its beginning, and only
            differences go out; all else goes on where the device's last sync ended.
            Versions that the gateway refuses are answered here as there, with the code and
            what to do about it.

            The app need not send a migration. Of a device that has never told its version,
            '--from' is 'migrations_enabled_at' of [schema].

            '--principal' or '--user' adds how many records that is, by what the ledgers of
            that user's devices hold now. It reads the state, also while the gateway
            runs, and changes nothing. The status is 0 whatever the answer is.
            """)

    @Option(help: ArgumentHelp("The schema version that the app had when it last synced.", valueName: "n"))
    var from: Int?

    @Option(help: ArgumentHelp("The schema version that it has now; the newest by default.", valueName: "n"))
    var to: Int?

    @OptionGroup var owner: PrincipalArgument

    @OptionGroup var state: StateArguments

    func validate() throws {
        // Neither the configuration nor a request can have others.
        for version in [from, to].compactMap({ $0 }) where !(1...1_000_000_000).contains(version) {
            throw ValidationError("\(version) is no schema version: they are whole numbers from 1 on.")
        }
        if from == nil, to != nil { throw ValidationError("'--to' goes with '--from'.") }
        guard owner.isEmpty || from != nil else {
            throw ValidationError("'--principal' and '--user' go with '--from': they count what is fetched.")
        }
    }

    func run() async throws {
        try await state.run { configuration in
            let schema = configuration.schema
            guard let from else { return SchemaHistory(schema) }
            var counts: RecordCounts?
            if !owner.isEmpty {
                counts = try await configuration.withState(for: .reading) { store in
                    guard let owner = try await owner.find(in: store, configuration) else { return nil }
                    return try await RecordCounts(of: owner, schema: schema, store: store)
                }
            }
            return SchemaUpdate(from: from, to: to ?? schema.version, schema: schema, counts: counts)
        }
    }
}
