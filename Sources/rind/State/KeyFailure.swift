// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Gateway
import GatewayConfig

/// The state was written under another identity key.
enum KeyFailure: String, Error {
    case other = "identity.other_key"

    /// Returns true if a state may be marked with any key: nobody has got anything from it, and no other gateway runs on
    /// it with the one that it has.
    static func isOpen(_ store: CommandState) async throws -> Bool {
        guard !store.needsLeases else { return false }
        return try await store.newestCursor() == nil
    }

    /// Refuses a state that is marked with another key than that of a configuration.
    static func check(_ store: CommandState, of configuration: Configuration) async throws {
        guard let mark = try await store.keyMark(), mark != SyncGateway.keyMark(of: configuration) else { return }
        throw KeyFailure.other
    }
}
