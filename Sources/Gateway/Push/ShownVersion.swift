// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// What an applied push shows of its client's schema, for clients that tell it in no pull.
struct ShownVersion {
    /// A client database that pushes, and the schema version that its pushes have shown before.
    typealias Pusher = (replica: ReplicaID, version: Int?)

    let scope: PushScope
    /// Who pushes; nil where the cursor does not tell.
    let pusher: Pusher?

    /// Notes of which version the client is: as it says, else as the names in its push show.
    ///
    /// Where it cannot be noted, the next push shows it again, and this one is applied all the same.
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
            let isNews = try await scope.store.notePushed(
                version: version, replica: pusher?.replica, principal: scope.principal)
            guard isNews else { return }
            scope.logger.info("a push shows the client's schema version", metadata: ["version": "\(version)"])
        } catch {
            scope.logger.notWritten("could not record a client's schema version", error)
        }
    }
}
