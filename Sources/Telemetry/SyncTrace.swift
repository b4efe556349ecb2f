// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// The parts of a sync whose times are measured.
package enum SyncStage: String, CaseIterable, Sendable {
    /// Waiting for another sync of the same session, cursor or principal.
    case queue
    /// Finding out who is calling.
    case identity
    /// Reading the state, and writing what is no commit.
    case state
    /// Calls to the backend, and the wait for the first byte of its stream.
    case backend
    /// Reading the backend's stream.
    case stream
    /// Comparing with the ledger.
    case diff
    /// Writing the result into the state.
    case commit
    /// Sending the answer to the client.
    case send
}

/// Collects what happens during one sync request: for its line in the log, and for the metrics.
///
/// It is the value of a task-local variable, so that no part of a sync needs to pass it on.
package final class SyncTrace: Sendable {
    /// The trace of the request that the current task serves.
    @TaskLocal package static var current: SyncTrace?

    /// The figures of one table.
    package struct TableFigures: Hashable, Sendable {
        /// Records that are created or updated.
        package var rows = 0
        /// Deletions.
        package var deletions = 0
        /// The bytes of the records.
        package var bytes = 0

        /// Creates figures.
        package init(rows: Int = 0, deletions: Int = 0, bytes: Int = 0) {
            (self.rows, self.deletions, self.bytes) = (rows, deletions, bytes)
        }

        /// Adds other figures.
        package mutating func add(_ other: TableFigures) {
            rows += other.rows
            deletions += other.deletions
            bytes += other.bytes
        }
    }

    /// The contents of a trace.
    package struct Content: Sendable {
        /// `pull`, `push`, or `unknown` until the request is understood.
        package var kind: Kind = .unknown
        /// The nanoseconds in each stage; 0 if the sync was not in it.
        package var nanoseconds = SIMD8<Int64>()
        /// The number of calls to the backend by the first digit of the status; index 0 if there was no answer.
        package var calls = SIMD8<Int64>()
        /// The number of all calls.
        package var callCount = 0
        /// The status of the backend's last answer; nil if there was none.
        package var backendStatus: Int?
        /// The tables of which records came or went out.
        package var tables: [String: TableFigures] = [:]
        /// Lines of a push for which an answer that accepted it had no result.
        package var missingResults = 0
        /// True if the caller was known; nil if nobody has looked.
        package var isKnownCaller: Bool?
        /// The user, the device and its cursor, as soon as each is known.
        package var subject = Subject()
    }

    /// Whom a sync is about, also if it fails.
    package struct Subject: Sendable {
        /// The user's principal.
        package var principal: String?
        /// The scope of the sync; nil if it has none.
        package var scope: String?
        /// The device.
        package var replica: String?
        /// The cursor that the client has sent.
        package var presented: Int64?
    }

    /// The kind of a sync.
    package enum Kind: String, Sendable {
        case unknown, pull, push
    }

    /// The trace that the client has begun; nil if there is none.
    package let parent: TraceParent?
    private let box = NIOLockedValueBox(Content())

    /// Creates an empty trace.
    package init(parent: TraceParent? = nil) { self.parent = parent }

    /// The collected values so far.
    package var content: Content { box.withLockedValue { $0 } }

    /// Changes the contents of the current trace, if there is one.
    package static func note(_ change: (inout Content) -> Void) { current?.box.withLockedValue { change(&$0) } }

    /// Notes a call to the backend, with the status of its answer; nil if there was none.
    package static func noteCall(status: Int?) {
        current?.box.withLockedValue { content in
            content.calls[status.map { min(max($0 / 100, 0), 5) } ?? 0] += 1
            content.callCount += 1
            content.backendStatus = status
        }
    }

    /// Begins to measure a stage of the current sync; nothing is measured without a stage.
    package static func begin(_ stage: SyncStage?) -> StageTiming {
        StageTiming(trace: stage == nil ? nil : current, stage: stage ?? .state)
    }

    fileprivate func add(_ duration: Duration, to stage: SyncStage) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        box.withLockedValue { $0.nanoseconds[stage.index] += max(1, nanoseconds) }
    }
}

extension SyncStage {
    /// All stages by their indices; made once.
    package static let all = allCases

    /// The index of the stage in lists of all.
    package var index: Int {
        switch self {
        case .queue: 0
        case .identity: 1
        case .state: 2
        case .backend: 3
        case .stream: 4
        case .diff: 5
        case .commit: 6
        case .send: 7
        }
    }
}

/// A stage that is being measured.
package struct StageTiming: Sendable {
    fileprivate let trace: SyncTrace?
    fileprivate let stage: SyncStage
    private let begun = ContinuousClock.now

    fileprivate init(trace: SyncTrace?, stage: SyncStage) {
        self.trace = trace
        self.stage = stage
    }

    /// Ends the measurement.
    package func end() { trace?.add(ContinuousClock.now - begun, to: stage) }
}
