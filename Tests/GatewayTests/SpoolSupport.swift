// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import SyncModel

@testable import Gateway

extension SpoolLease {
    /// A lease of a budget that is never used up.
    static var unbounded: SpoolLease {
        SpoolBudget(memory: 1 << 40, disk: 1 << 40) { _ in false }.lease(for: Principal(rawValue: "a"))
    }
}

extension Spool {
    /// A spool that has all the room of the world.
    convenience init(limits: Limits, writeSize: Int = 512 << 10) {
        self.init(limits: limits, lease: .unbounded, writeSize: writeSize)
    }
}

extension StreamSpooler {
    /// A spooler that has all the room of the world.
    init(
        projection: Projection, hashKey: SipHash.Key, intakeLimits: StreamIntake.Limits, spoolLimits: Spool.Limits,
        ledgered: Set<Int>
    ) {
        self.init(
            projection: projection, hashKey: hashKey, intakeLimits: intakeLimits, spoolLimits: spoolLimits,
            lease: { .unbounded }, ledgered: ledgered)
    }
}
