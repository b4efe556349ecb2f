// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import UnixSignals

/// Decides what a signal means, which depends on the signals before it.
struct SignalRules {
    /// The next step.
    enum Action: Hashable {
        /// Say that the signal has no effect, because the end has begun.
        case ignore
        /// Read the configuration again.
        case reload
        /// Log at debug, or at the configured level again.
        case log(debug: Bool)
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
    static let signals: [UnixSignal] = [.sighup, .sigusr1, .sigusr2, .sigterm, .sigint, .sigquit]

    private(set) var phase = Phase.serving

    /// Decides what a signal means now.
    mutating func receive(_ signal: UnixSignal) -> Action {
        switch (signal, phase) {
        case (.sighup, .serving): return .reload
        case (.sighup, _): return .ignore
        case (.sigusr1, _): return .log(debug: true)
        case (.sigusr2, _): return .log(debug: false)
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
