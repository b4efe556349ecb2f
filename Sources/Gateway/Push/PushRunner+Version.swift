// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

// What an applied push shows of its client's schema, for clients that tell it in no pull.
extension PushRunner {
    /// Notes of which version the client is: as it says, else as the names in its push show.
    ///
    /// Where it cannot be noted, the next push shows it again, and this one is applied all the same.
    func noteVersion() async {
        guard pusher != nil || request.lastPulledAt == nil else { return }
        let known = pusher?.version
        let version =
            request.schemaVersion
            ?? SchemaInference(services.configuration.schema).version(
                of: request.changes.tables, in: request.changes.bytes, atLeast: known)
        guard version > known ?? 0 else { return }
        do {
            let isNews = try await services.store.notePushed(
                version: version, replica: pusher?.replica, principal: identity.principal)
            guard isNews else { return }
            logger.info("a push shows the client's schema version", metadata: ["version": "\(version)"])
        } catch {
            logger.notWritten("could not record a client's schema version", error)
        }
    }
}
