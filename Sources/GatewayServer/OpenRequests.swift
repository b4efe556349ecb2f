// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Logging
import NIOConcurrencyHelpers
import SyncModel

/// Counts the requests that are being served, and records whether the server waits for them to end.
///
/// Requests that have become tunnels are not waited for: when the last other one has ended, they are told to end.
final class OpenRequests: Sendable {
    /// One request, as the log shows it.
    struct Request: Sendable {
        let method: String
        let path: String
        let id: String
        var begun = ContinuousClock.now
    }

    private struct State {
        /// The requests by the order of their arrival.
        var requests: [UInt64: Request] = [:]
        var next: UInt64 = 0
        /// The functions that end tunnels, by the numbers of the requests that have become tunnels.
        var tunnels: [UInt64: @Sendable () -> Void] = [:]
        /// True if no new requests are taken.
        var isClosed = false
        /// The end of the grace; nil while the server does not drain.
        var deadline: ContinuousClock.Instant?
    }

    private let state = NIOLockedValueBox(State())

    /// Counts a request until ``leave(_:)``.
    ///
    /// - Returns: Its number.
    func enter(_ request: Request) -> UInt64 {
        state.withLockedValue { state in
            state.requests[state.next] = request
            defer { state.next += 1 }
            return state.next
        }
    }

    /// Ends the counting of a request, or of the tunnel that it has become.
    func leave(_ number: UInt64) {
        state.withLockedValue { state in
            state.requests[number] = nil
            state.tunnels[number] = nil
        }
        endTunnels()
    }

    /// Counts a request as a tunnel from now on.
    ///
    /// - Parameters:
    ///   - number: The request's number.
    ///   - end: Called when the server no longer waits for anything else, perhaps at once and more than once.
    func become(tunnel number: UInt64, _ end: @escaping @Sendable () -> Void) {
        state.withLockedValue { state in
            state.requests[number] = nil
            state.tunnels[number] = end
        }
        endTunnels()
    }

    /// The number of tunnels.
    var tunnels: Int { state.withLockedValue { $0.tunnels.count } }

    /// Records that no new requests are taken: tunnels end as soon as no request is left.
    func close() {
        state.withLockedValue { $0.isClosed = true }
        endTunnels()
    }

    private func endTunnels() {
        let ends = state.withLockedValue { state in
            state.isClosed && state.requests.isEmpty ? Array(state.tunnels.values) : []
        }
        for end in ends { end() }
    }

    /// The number of requests.
    var count: Int { state.withLockedValue { $0.requests.count } }

    /// True if the server waits for the last requests.
    var isDraining: Bool { state.withLockedValue { $0.deadline != nil } }

    /// Begins to wait for the last requests.
    ///
    /// - Returns: True for the first call.
    func beginDraining(until deadline: ContinuousClock.Instant) -> Bool {
        state.withLockedValue { state in
            guard state.deadline == nil else { return false }
            state.deadline = deadline
            return true
        }
    }

    /// Describes what the server waits for: the number of requests, the oldest of them, and the rest of the grace.
    func waiting(at now: ContinuousClock.Instant) -> Logger.Metadata {
        let (count, oldest, deadline) = state.withLockedValue { state in
            (state.requests.count, state.requests.min { $0.key < $1.key }?.value, state.deadline)
        }
        let left = deadline.map { max(0, ($0 - now).milliseconds) } ?? 0
        var metadata: Logger.Metadata = [
            "requests": .stringConvertible(count), "tunnels": .stringConvertible(tunnels),
            "grace_left_ms": .stringConvertible(left),
        ]
        guard let oldest else { return metadata }
        metadata["method"] = "\(oldest.method)"
        metadata["path"] = "\(oldest.path)"
        metadata["request_id"] = "\(oldest.id)"
        metadata["duration_ms"] = .stringConvertible((now - oldest.begun).milliseconds)
        return metadata
    }
}
