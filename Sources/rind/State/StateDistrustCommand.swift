// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import Gateway
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind state distrust`.
struct StateDistrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "distrust", abstract: "Compares every device with everything, after a backup was restored.",
        discussion: """
            EXAMPLE
              rind state distrust --config rind.ini
              rind state distrust --config rind.ini --user 17
              rind state distrust --config rind.ini --restored state

            After the backend's database was restored, its tokens name other changes
            than before, and devices would not notice. With their next pull they get
            everything streamed and compared by content: where the ledger goes back far
            enough, only what differs goes out. What the backend has lost is deleted
            ('[ledger] max_sweep' holds), unsynced edits stay. Run this once the backend
            is back; the gateway may run.

            After Rind's own state was restored ('--restored state', before gateways
            start again), it is not known either what devices have pushed and got since
            the backup, so everything goes out once more in 'updated'.

            docs/OPERATIONS.md has both under "When a backup was restored".
            """)

    /// Names what was restored, as the option has it.
    enum Restored: String, ExpressibleByArgument, CaseIterable {
        case backend, state
    }

    @Option(help: ArgumentHelp("What was restored from a backup: 'backend' or 'state'.", valueName: "what"))
    var restored = Restored.backend

    @OptionGroup var principal: PrincipalArgument
    @OptionGroup var state: StateArguments

    func run() async throws {
        try await state.run(for: .changing) { store, configuration in
            let wanted = try await principal.find(in: store, configuration)
            let backup: RestoredBackup = restored == .backend ? .backend : .state
            let count = try await store.commands.distrust(because: backup, of: wanted, at: SystemClock().now)
            return Distrust(restored: restored, isOfOne: wanted != nil, principals: count)
        }
    }
}

/// The result.
private struct Distrust: StateReport {
    let restored: StateDistrustCommand.Restored
    /// True if one user was named.
    let isOfOne: Bool
    let principals: Int

    var lines: [String] {
        guard principals > 0 else { return ["The state knows no users yet; nothing was changed."] }
        let devices = isOfOne ? "the devices of this user" : "the devices of all \(principals) users"
        let outcome =
            restored == .backend
            ? "get what differs from what they have." : "get everything once more, and what is gone is deleted."
        return [
            "With their next pull, \(devices) are compared with everything that the backend has, and \(outcome)",
            "Their pulls have 'restart=distrusted' in the log. Each costs the backend a full stream.",
        ]
    }

    var json: JSONValue {
        .object(["restored": .string(restored.rawValue), "principals": .integer(principals)])
    }
}
