// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import SyncModel

/// Tries the points of the backend's checklist that sessions of test accounts can show.
struct ChecklistRun {
    let configuration: Configuration
    let settings: BackendSettings
    private var reading: ChecklistReading
    /// The session of another user; nil if no credential of one was given.
    var other: ChecklistSession?
    /// The stream of the other user.
    var othersView: ChecklistStream?
    private var secondSession: ChecklistSession?
    /// The longest time by which a stream was behind a push.
    var lag = Duration.zero
    var session: ChecklistSession {
        get { reading.session }
        set { reading.session = newValue }
    }
    var results: ChecklistResults {
        get { reading.results }
        set { reading.results = newValue }
    }

    /// Creates a run with one or two credentials; no call is made.
    init(
        _ configuration: Configuration, settings: BackendSettings, _ session: ChecklistSession,
        second: SecondAccount? = nil
    ) {
        self.configuration = configuration
        self.settings = settings
        reading = ChecklistReading(settings: settings, session: session)
        switch second {
        case .session(let session): secondSession = session
        case .user(let session): other = session
        case nil: break
        }
    }

    /// Tries the points one after the other; with `writes` those of pushes, too.
    mutating func run(writes: Bool) async -> ChecklistResults {
        if settings.checkpoints == .server, settings.forget == nil {
            results.leave(ChecklistPoint.withinReach, because: "needs the call [backend] forget")
            return results
        }
        do throws(ChecklistFailure) {
            if let everything = try await reading.tryAll() {
                if let secondSession { try await reading.tryTwoSessions(everything, secondSession) }
                if writes { try await tryWriting(after: everything) }
                // The last, since a backend that takes such a token may give nothing afterwards.
                try await reading.tryFutureToken(everything)
            }
        } catch { results.note(error, at: settings) }
        if !writes { results.leave(writtenPoints, because: "needs --write") }
        if secondSession != nil {
            results.leave([.otherUsers, .movedRecord], because: "needs the second credential to be another user's")
        } else if other != nil {
            results.leave([.twoSessions], because: "needs the second credential to be of the same user")
            results.leave([.otherUsers, .movedRecord], because: "an earlier point or call failed")
        }
        return results
    }

    /// The points that only pushes show.
    var writtenPoints: [ChecklistPoint] {
        ChecklistPoint.allCases.filter { $0.needsPush || other != nil && $0.needsOtherUser }
    }
}
