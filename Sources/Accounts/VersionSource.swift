// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

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
