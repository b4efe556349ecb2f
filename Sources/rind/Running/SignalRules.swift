// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import UnixSignals

/// Decides what a signal means, which depends on the signals before it.
struct SignalRules {
    /// The next step.
    enum Action: Hashable {
        /// Say that the signal has no effect.
        case ignore
        /// Take nothing new, and let what runs finish.
        case drain
        /// Cut what runs, and end in good order.
        case stop
        /// The end has begun already.
        case none
    }

    /// The state of the process.
    enum Phase: Hashable, CaseIterable {
        case serving, draining, stopping
    }

    /// Every signal that has a meaning.
    static let signals: [UnixSignal] = [.sighup, .sigterm, .sigint, .sigquit]

    private(set) var phase = Phase.serving

    /// Decides what a signal means now.
    mutating func receive(_ signal: UnixSignal) -> Action {
        switch (signal, phase) {
        case (.sighup, _): return .ignore
        case (_, .stopping): return .none
        case (.sigterm, .serving), (.sigint, .serving):
            phase = .draining
            return .drain
        case (.sigterm, .draining), (.sigint, .draining), (.sigquit, _):
            phase = .stopping
            return .stop
        default: return .none
        }
    }
}
