// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
package import SyncModel
import Telemetry

/// Tells where the running configuration comes from; never what is in it.
package struct ConfigurationOrigin: Sendable {
    /// The version of the program.
    package var version: String
    /// The configuration's file.
    package var file: String
    /// The first digits of the file's digest.
    package var digest: String
    /// The time from which on it is in use.
    package var since: Instant
    /// The start of the process.
    package var startedAt: Instant
    /// The last time since then that the file was read again and refused; nil if it was not.
    var refusedAt: Instant?

    /// Creates an origin.
    package init(version: String, file: String, digest: String, since: Instant, startedAt: Instant) {
        self.version = version
        self.file = file
        self.digest = digest
        self.since = since
        self.startedAt = startedAt
    }
}

/// Holds everything that the operator's page shows.
struct StatusFacts: Sendable {
    var origin: ConfigurationOrigin?
    var service = GatewayStatus()
    var now: Instant
    var isDraining = false
    var requests = 0
    var connections = (open: 0, limit: 0)
    /// The syncs of the last sixty seconds.
    var lastMinute = 0
    var minutes: [RecentSyncs.Minute] = []
    var slowest: [RecentSyncs.Sync] = []
    var failures: [String: RecentSyncs.Failures] = [:]
    /// The conflicts by table since the start.
    var conflicts: [(table: String, count: Int)] = []
}
