// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Finds out the schema version of a pushing client, for clients that do not send it with their pulls.
struct PushedVersion {
    /// A pushing client database, and the schema version that its earlier pushes have stated or implied.
    typealias Pusher = (replica: ReplicaID, version: Int?)

    let scope: PushScope
    /// The client database that pushes; nil if the cursor does not identify it.
    let pusher: Pusher?

    /// Stores the client's schema version: the one that it sent, or else the one inferred from the names in its push.
    ///
    /// A failure is only logged: the next push has the version again, and this one was applied.
    func write() async {
        let request = scope.request
        guard pusher != nil || request.lastPulledAt == nil else { return }
        let known = pusher?.version
        let version =
            request.schemaVersion
            ?? SchemaInference(scope.schema).version(
                of: request.changes.tables, in: request.changes.bytes, atLeast: known)
        guard version > known ?? 0 else { return }
        do {
            let isNews = try await scope.change { try ReplicaRules.notePushed(version, by: pusher?.replica, in: &$0) }
            guard isNews else { return }
            scope.logger.info("a push implies the client's schema version", metadata: ["version": "\(version)"])
        } catch {
            scope.logger.notWritten("could not record a client's schema version", error)
        }
    }
}
