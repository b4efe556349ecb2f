// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Says how a ``World`` is set up.
package struct WorldSetup: Hashable, Sendable {
    /// Who keeps the checkpoints.
    package enum Checkpoints: String, Hashable, Sendable { case server, request }

    /// How pushes reach the backend.
    package enum PushStyle: Hashable, Sendable {
        /// All operations in one request.
        case stream
        /// A call for each.
        case calls
    }

    /// What becomes of a record that the backend will never take.
    package enum Rejected: String, CaseIterable, Hashable, Sendable {
        /// The push fails.
        case fail
        /// The app hears of it, and the others go on.
        case report
        /// It is set aside until an operator has it tried again, and the app hears that all is well.
        case quarantine
    }

    /// Which time the app sends with a push.
    package enum PushTime: String, CaseIterable, Hashable, Sendable {
        /// The one that it has.
        case now
        /// None, as a third of apps do.
        case none
        /// That from before the pull.
        case before
    }

    /// Who keeps the checkpoints.
    package var checkpoints = Checkpoints.server
    /// How many devices one user has.
    package var devices = 2
    /// Whether each device is logged in by itself.
    package var hasOwnSessions = false
    /// Whether repeated pulls go on from where a lost answer's stream has ended.
    package var keepsAnswers = true
    /// Whether there are files at the beginning; without, the backend writes checkpoints at every stream.
    package var hasFiles = true
    /// Whether the gateway keeps a ledger.
    package var hasLedger = true
    /// How pushes reach the backend.
    package var pushStyle = PushStyle.stream
    /// Which time a push carries.
    package var pushTime = PushTime.now
    /// What the devices tell of their schema version, by turns.
    package var manners = [SimulatedDevice.Manners.version]
    /// Whether pushes name tables without changes too, as the library does.
    package var namesAllTables = true
    /// Whether the gateway looks for conflicts in the stream before it pushes.
    package var checksConflicts = false
    /// Whether the gateway deletes what hangs on a record that an app deletes.
    package var cascades = false
    /// What becomes of a record that the backend will never take, in a push by calls.
    package var rejected = Rejected.fail
    /// Whether the backend gives new tasks, comments and notes ids of its own, in a push by calls.
    package var makesIDs = false
    /// How many gateways share the state.
    package var gateways = 1

    /// Two devices on one session, one gateway with a ledger.
    package init() {}
}
