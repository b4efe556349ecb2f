// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import Testing

@testable import Gateway

@Suite struct AwaitedPushesTests {
    @Test(
        arguments: [
            (UnfinishedPushes(), AwaitedPushes(), false),
            (UnfinishedPushes(hasScheduledRetries: true), AwaitedPushes(), true),
            (UnfinishedPushes(hasScheduledRetries: true), AwaitedPushes(areScheduled: false), false),
            // 1 runs and keeps its records' ids, 2 runs and makes some, and 3 was interrupted.
            (UnfinishedPushes(openJournals: [1]), AwaitedPushes(), false),
            (UnfinishedPushes(openJournals: [1, 2]), AwaitedPushes(), true),
            (UnfinishedPushes(openJournals: [3]), AwaitedPushes(areScheduled: false), true),
            (UnfinishedPushes(openJournals: [2, 3]), AwaitedPushes(areOpen: false), false),
            (UnfinishedPushes(openJournals: [3], hasScheduledRetries: true), AwaitedPushes.none, false),
        ])
    func `a pull waits for scheduled retries and for journals that may hide ids`(
        unfinished: UnfinishedPushes, awaited: AwaitedPushes, isHeldUp: Bool
    ) {
        let running = RunningJournals()
        running.begin(1, makesIDs: false)
        running.begin(2, makesIDs: true)
        #expect(awaited.holdUp(unfinished, in: running) == isHeldUp)
    }
}
