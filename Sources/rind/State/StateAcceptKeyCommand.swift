// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import Gateway
import GatewayConfig
import JSONBytes

/// `rind state accept-key`.
struct StateAcceptKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-key", abstract: "Goes on with a state that was written under another identity key.",
        discussion: """
            EXAMPLE
              rind state accept-key --config rind.ini
              rind state accept-key --config rind.ini --yes

            The state names users by digests under [identity] key, so under another key it
            recognises nobody, and a gateway does not start on it (identity.other_key).
            Put the old key back if you can. If it is lost, this command lets gateways
            start with the key of the configuration. Every device then downloads
            everything again, and what old pushes have left in quarantine belongs to
            nobody. Without '--yes' it only says what it would do. Stop every gateway
            first.
            """)

    @Flag(help: "Do it.")
    var yes = false

    @OptionGroup var state: StateArguments

    func run() async throws {
        try await state.runAsGateway { store, configuration in
            let (own, stored) = (SyncGateway.keyMark(of: configuration), try await store.keyMark())
            let isOther = stored != nil && stored != own
            if isOther, yes { try await store.setKeyMark(own, replaces: true) }
            return KeyAcceptance(isMarked: stored != nil, isOther: isOther, isChanged: isOther && yes)
        }
    }
}

/// The result.
struct KeyAcceptance: StateReport {
    /// True if a gateway has marked the state with its key.
    let isMarked: Bool
    /// True if the state was written under another key.
    let isOther: Bool
    let isChanged: Bool

    var lines: [String] {
        if isChanged { return ["The state is now that of this key; start the gateway."] }
        if !isMarked { return ["The state has no mark yet: the next gateway that starts marks it with its key."] }
        if !isOther { return ["The state is that of this key; nothing was changed."] }
        return [
            "The state was written under another key. If that is lost, run this again with --yes; nothing was changed."
        ]
    }

    var json: JSONValue {
        .object(["marked": .bool(isMarked), "other_key": .bool(isOther), "changed": .bool(isChanged)])
    }
}
