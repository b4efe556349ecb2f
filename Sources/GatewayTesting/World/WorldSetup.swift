// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Says how a ``World`` is set up.
package struct WorldSetup: Hashable, Sendable {
    /// The way in which pushes reach the backend.
    package enum PushStyle: Hashable, Sendable {
        /// All operations in one request.
        case stream
        /// A call for each.
        case calls
    }

    /// The time that the app sends with a push.
    package enum PushTime: String, CaseIterable, Hashable, Sendable {
        /// The one that it has.
        case now
        /// None, as a third of apps do.
        case none
        /// The cursor from before the pull.
        case before
    }

    /// The keeper of the checkpoints.
    package var checkpoints = CheckpointStyle.server
    /// The number of the user's devices.
    package var devices = 2
    /// True if each device is logged in by itself.
    package var hasOwnSessions = false
    /// True if repeated pulls go on from the end of a lost answer's stream.
    package var keepsAnswers = true
    /// True if there are files at the beginning; without them, the backend writes checkpoints at every stream.
    package var hasFiles = true
    /// True if the gateway keeps a ledger.
    package var hasLedger = true
    /// The way in which pushes reach the backend.
    package var pushStyle = PushStyle.stream
    /// The time that a push carries.
    package var pushTime = PushTime.now
    /// The information about their schema that devices send, by turns.
    package var manners = [SimulatedDevice.Manners.version]
    /// True if pushes name tables without changes too, as the library does.
    package var namesAllTables = true
    /// True if the gateway looks for conflicts in the stream before it pushes.
    package var checksConflicts = false
    /// True if the gateway deletes the descendants of a record that an app deletes.
    package var cascades = false
    /// The treatment of a record that the backend will never take, in a push by calls.
    package var rejected = RejectedRecordRule.fail
    /// True if the backend gives new tasks, comments and notes ids of its own, in a push by calls.
    package var makesIDs = false
    /// The most operations of one push request; nil for the default.
    package var pushBatch: Int?
    /// The most tokens that one ack call carries.
    package var ackBatch = 1_000
    /// True if the state commits together what waits at the same time.
    package var commitsInGroups = false
    /// The number of gateways that share the state.
    package var gateways = 1

    /// Creates a world of two devices on one session and one gateway with a ledger.
    package init() {}
}
