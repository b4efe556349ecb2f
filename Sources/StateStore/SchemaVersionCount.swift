// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Counts the replicas of one schema version.
package struct SchemaVersionCount: Hashable, Sendable {
    /// The version; nil for replicas that have not shown theirs.
    package var version: Int?
    /// The number of replicas.
    package var devices: Int

    /// Creates a count.
    package init(version: Int?, devices: Int) {
        self.version = version
        self.devices = devices
    }
}
