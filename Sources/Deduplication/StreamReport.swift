// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The outcome of one stream request.
package struct StreamReport: Hashable, Sendable {
    /// The reason why a request ended.
    package enum End: Hashable, Sendable {
        /// A complete line.
        case complete
        /// No complete line: the stream was cut, was silent for too long or was refused for now.
        case broken
        /// A reset line.
        case reset(token: String)
    }
    /// The reason why the request ended.
    package var end: End
    /// The newest token of every namespace that came in this request.
    package var received: CheckpointVector
    /// True if any line came that was neither the complete line nor ack-only.
    package var carriedData: Bool

    /// Creates a report.
    package init(end: End, received: CheckpointVector = CheckpointVector(), carriedData: Bool) {
        self.end = end
        self.received = received
        self.carriedData = carriedData
    }
}
