// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// The level of the log, which signals change while the gateway runs.
final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases
    /// The index of the level of the configuration.
    private let configuredIndex = Atomic(0)
    private let isVerbose = Atomic(false)

    init(_ configured: Logger.Level) { configure(configured) }

    /// The level of the configuration.
    var configured: Logger.Level { Self.levels[configuredIndex.load(ordering: .relaxed)] }

    /// The level now.
    var level: Logger.Level { isVerbose.load(ordering: .relaxed) ? min(configured, .debug) : configured }

    /// Takes the level of another configuration.
    func configure(_ level: Logger.Level) {
        configuredIndex.store(Self.levels.firstIndex(of: level) ?? 0, ordering: .relaxed)
    }

    /// Logs at debug from now on, or at the level of the configuration again.
    func change(toDebug: Bool) { isVerbose.store(toDebug, ordering: .relaxed) }
}
