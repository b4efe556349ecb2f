// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

/// Names the kinds of unfinished pushes that a pull waits for; each is dealt with once a pull.
struct AwaitedPushes {
    /// True for quarantined records whose retry the operator has scheduled.
    var areScheduled = true
    /// True for pushes with an open journal.
    var areOpen = true

    /// Waits for nothing: a conflict check and a search are parts of what others wait for.
    static let none = AwaitedPushes(areScheduled: false, areOpen: false)

    /// Returns true if unfinished pushes have to be dealt with first.
    func holdUp(_ unfinished: UnfinishedPushes, in running: RunningJournals) -> Bool {
        areScheduled && unfinished.hasScheduledRetries
            || areOpen && unfinished.openJournals.contains { !running.isHarmless($0) }
    }
}
