// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Where clients find the gateways, which are killed and started again, and what has become of their syncs.
final class KillLoad: Sendable {
    private struct State {
        var ports: [Int] = []
        var isOver = false
        var outcomes: [String: Int] = [:]
        var problems: [String] = []
    }
    private let state = NIOLockedValueBox(State())
    /// The statuses besides 2xx that say nothing about a defect: a conflict is resolved by the next sync, and a busy
    /// machine may have a client wait.
    let tolerated: Set<Int>

    init(tolerating statuses: Set<Int> = []) { tolerated = statuses.union([409, 429, 503, 504]) }

    /// How often each outcome of a sync came.
    var outcomes: [String: Int] { state.withLockedValue(\.outcomes) }
    /// How many syncs came to their end.
    var syncs: Int { state.withLockedValue { $0.outcomes["synced", default: 0] } }
    /// What must not be, a line for each.
    var problems: [String] { state.withLockedValue(\.problems) }

    /// Lets clients sync with the gateway at a port; nil has them wait for the next one.
    func move(to port: Int?) { move(to: port.map { [$0] } ?? []) }

    /// Lets each sync go to any of these gateways.
    func move(to ports: [Int]) { state.withLockedValue { $0.ports = ports } }

    /// Another gateway for the rest of a sync; nil where there is none to choose.
    var otherPort: Int? { state.withLockedValue { $0.ports.count > 1 ? $0.ports.randomElement() : nil } }

    /// Ends the load: whoever asks for the gateway learns that there is none any more.
    func end() { state.withLockedValue { $0.isOver = true } }

    /// The gateway's port, as soon as there is one; nil where the load is over.
    func port() async throws -> Int? {
        var found: (port: Int?, isOver: Bool) = (nil, false)
        try await eventually {
            found = state.withLockedValue { ($0.ports.randomElement(), $0.isOver) }
            return found.port != nil || found.isOver
        }
        return found.isOver ? nil : found.port
    }

    /// Whether the load is over.
    var isOver: Bool { state.withLockedValue(\.isOver) }

    /// Counts the outcome of a sync.
    func count(_ outcome: String) { state.withLockedValue { $0.outcomes[outcome, default: 0] += 1 } }

    /// Notes what must not be.
    func fail(_ problem: String) { state.withLockedValue { $0.problems.append(problem) } }
}
