// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOConcurrencyHelpers

/// Waits until a count above 0 has not grown for half a second, or has reached `end`.
///
/// It is for what buffers take before a side is held up: no event tells that nothing more will come.
///
/// - Returns: The count.
package func steady(_ count: NIOLockedValueBox<Int>, end: Int) async throws -> Int {
    var (last, unchanged) = (-1, 0)
    while unchanged < 10 {
        let now = count.withLockedValue { $0 }
        if now >= end { return now }
        unchanged = now == last && now > 0 ? unchanged + 1 : 0
        last = now
        try await Task.sleep(for: .milliseconds(50))
    }
    return last
}
