// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import StateStore

/// An event of an open state, for its owner's log.
package enum StateEvent: Hashable, Sendable {
    /// Reads or writes fail for a reason that needs the operator's attention; reported once until it is over.
    case failed(StateError, path: String)
    /// The fault that was reported under this code is over.
    case recovered(code: String, path: String)
}

/// Reports each fault of a state once, and its end.
package final class StateFaultLog: Sendable {
    /// The location without secrets, for the operator.
    package let location: String
    private let report: (@Sendable (StateEvent) -> Void)?
    private let faults = NIOLockedValueBox(StateFaults())

    /// Creates a log for the state at a location, which must hold no secret.
    package init(at location: String, report: (@Sendable (StateEvent) -> Void)?) {
        self.location = location
        self.report = report
    }

    /// Reports a failure if it is a new fault.
    package func failed(_ error: StateError) {
        guard let report, faults.withLockedValue({ $0.failed(error, at: .now) }) else { return }
        report(.failed(error, path: location))
    }

    /// Records that a transaction was committed, so that faults may be over.
    package func committed() {
        guard let report else { return }
        for code in faults.withLockedValue({ $0.committed(at: .now) }) {
            report(.recovered(code: code, path: location))
        }
    }
}

/// Decides which failures of a state are reported, so that a fault is one line in the log, not one for each request.
struct StateFaults {
    /// The time for which writes must succeed before a fault is over: on a nearly full disk some succeed and some fail.
    static let calm = Duration.seconds(10)

    /// The time when each fault was last seen, by its code.
    private var lastSeen: [String: ContinuousClock.Instant] = [:]

    /// Records that a transaction has failed.
    ///
    /// - Returns: True if the failure is to be reported.
    mutating func failed(_ error: StateError, at now: ContinuousClock.Instant) -> Bool {
        guard error.advice != nil else { return false }
        return lastSeen.updateValue(now, forKey: error.code) == nil
    }

    /// Records that a transaction was committed.
    ///
    /// - Returns: The codes of the faults that are over. Damage is never over by itself: other pages are still sound.
    mutating func committed(at now: ContinuousClock.Instant) -> [String] {
        guard !lastSeen.isEmpty else { return [] }
        let over = lastSeen.filter { $0.key != Self.damage && now - $0.value >= Self.calm }.map(\.key).sorted()
        for code in over { lastSeen[code] = nil }
        return over
    }

    private static let damage = StateError.corrupt("").code
}
