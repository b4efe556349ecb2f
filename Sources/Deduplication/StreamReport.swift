// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// How one stream request went.
package struct StreamReport: Hashable, Sendable {
    /// Why it ended.
    package enum End: Hashable, Sendable {
        /// With the complete line.
        case complete
        /// Without it: cut, silent for too long, refused for now.
        case broken
        /// With a reset line.
        case reset(token: String)
    }
    /// Why it ended.
    package var end: End
    /// The newest token of every namespace that came in this request.
    package var received: CheckpointVector
    /// Whether any line came that was neither the complete line nor ack-only.
    package var carriedData: Bool

    /// A report.
    package init(end: End, received: CheckpointVector = CheckpointVector(), carriedData: Bool) {
        self.end = end
        self.received = received
        self.carriedData = carriedData
    }
}
