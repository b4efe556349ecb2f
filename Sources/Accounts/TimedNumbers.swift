// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import SyncModel

/// Gives numbers of chunks and layers: the time in milliseconds, then a count that begins somewhere.
package final class TimedNumbers: Sendable {
    private let last = NIOLockedValueBox<Int64>(0)
    private let random: @Sendable () -> UInt64

    /// Creates a source with a source of random numbers.
    package init(random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }) { self.random = random }

    /// Returns a number that is greater than those before it.
    package func next(at now: Instant) -> Int64 {
        last.withLockedValue { last in
            let time = max(0, now.milliseconds) << 20
            if time > last {
                last = time | Int64(random() & 0xfffff)
            } else {
                // Whoever knows no time must not get the numbers of another process either.
                last = last == 0 ? Int64(random() >> 24) : last + 1
            }
            return last
        }
    }
}

/// Gives versions of heads that no other head or gateway has: the number of the process, then a count.
package final class VersionSource: Sendable {
    private let last: NIOLockedValueBox<Int64>

    /// Creates a source; sources of one state draw different numbers.
    package init(process: UInt32 = .random(in: 1..<(1 << 31))) {
        last = NIOLockedValueBox(Int64(process) << 32)
    }

    /// Returns the next version.
    package func next() -> Int64 {
        last.withLockedValue { last in
            last += 1
            return last
        }
    }
}
