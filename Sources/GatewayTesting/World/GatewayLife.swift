// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Tells whether a gateway of a world still runs.
///
/// One that has died does nothing any more: each of its ports throws before it does anything, so that its tasks unwind
/// without effect, as if the process were gone.
package final class GatewayLife: Sendable {
    /// The gateway is gone.
    struct Death: Error {}

    private let isOver = NIOLockedValueBox(false)

    /// True if the gateway has died.
    package var isDead: Bool { isOver.withLockedValue { $0 } }

    func end() { isOver.withLockedValue { $0 = true } }

    func check() throws(Death) { if isDead { throw Death() } }
}
