// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// The level of the log, which a signal changes while the gateway runs.
final class LogThreshold: Sendable {
    /// The level of the configuration.
    let configured: Logger.Level
    private let isVerbose = Atomic(false)

    init(_ configured: Logger.Level) { self.configured = configured }

    /// The level now.
    var level: Logger.Level { isVerbose.load(ordering: .relaxed) ? min(configured, .debug) : configured }

    /// Logs at debug from now on, or at the level of the configuration again.
    func change(toDebug: Bool) { isVerbose.store(toDebug, ordering: .relaxed) }
}
