// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers

/// The backend's time, in milliseconds since 1970, which tests set and advance.
package final class DemoClock: Sendable {
    private enum State {
        case running(offset: Int64)
        case standing(at: Int64)
    }
    private let state = NIOLockedValueBox(State.running(offset: 0))

    /// Creates a clock that shows the system's time.
    package init() {}

    /// The present moment.
    package var now: Int64 {
        state.withLockedValue { state in
            switch state {
            case .running(let offset): Self.system + offset
            case .standing(let moment): moment
            }
        }
    }

    /// Sets the clock, which goes on from there.
    package func set(_ milliseconds: Int64) {
        state.withLockedValue { $0 = .running(offset: milliseconds - Self.system) }
    }

    /// Sets the clock and stops it; only ``advance(by:)`` moves it from then on.
    package func stand(at milliseconds: Int64) { state.withLockedValue { $0 = .standing(at: milliseconds) } }

    /// Moves the clock forwards or, by a negative number, backwards.
    package func advance(by milliseconds: Int64) {
        state.withLockedValue { state in
            switch state {
            case .running(let offset): state = .running(offset: offset + milliseconds)
            case .standing(let moment): state = .standing(at: moment + milliseconds)
            }
        }
    }

    /// Shows the system's time again.
    package func reset() { state.withLockedValue { $0 = .running(offset: 0) } }

    /// Returns the milliseconds of a number of days.
    package static func days(_ count: Int64) -> Int64 { count * 86_400_000 }

    private static var system: Int64 { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
}
