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

/// Watches over the file of an open state: whether it is still at its path, and which faults it has.
final class StateWatch: Sendable {
    let file: StateFile
    private let identity: StateFile.Identity?
    private let report: (@Sendable (StateEvent) -> Void)?
    private let faults = NIOLockedValueBox(StateFaults())

    /// Creates a watch over a file that was just opened.
    init(_ file: StateFile, report: (@Sendable (StateEvent) -> Void)?) {
        self.file = file
        self.report = report
        identity = file.identity()
    }

    /// Fails if the path no longer names the file that was opened: data written to that file would be lost.
    func checkPath() throws(StateError) {
        guard let identity, file.isStill(identity) else { throw .replaced(path: file.path) }
    }

    /// Turns a failure into a ``StateError`` if there is one for it, and reports it if it is a new fault.
    func error(_ error: any Error) -> any Error {
        var error = StateError.wrapping(error, path: file.path)
        // A connection that is opened only for a read fails before it can check that the file is still there.
        if case .open? = error as? StateError {
            do throws(StateError) { try checkPath() } catch let replaced { error = replaced }
        }
        if let report, let error = error as? StateError,
            faults.withLockedValue({ $0.failed(error, at: .now) })
        {
            report(.failed(error, path: file.path))
        }
        return error
    }

    /// Records that a transaction was committed, so that faults may be over.
    func committed() {
        guard let report else { return }
        for code in faults.withLockedValue({ $0.committed(at: .now) }) {
            report(.recovered(code: code, path: file.path))
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
