// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The small syncs that ``Small`` measures.
enum SmallScenario: String, Codable, CaseIterable {
    /// Pulls that bring nothing; the caller is in the token, and the checkpoints are in the request.
    case idle
    /// Pulls that bring nothing; the backend says who calls, and keeps the checkpoints.
    case idleServer = "idle-server"
    /// Pulls that bring 20 changed rows of 10,000.
    case incremental
    /// First syncs of 50 rows, each by a caller who is new.
    case first
    /// Pushes of 5 records in one request.
    case push

    /// The sizes of a scenario's data.
    struct Sizes {
        /// The number of rows that a first sync brings.
        var rows: Int
        /// The number of rows that every further pull brings.
        var changes: Int
    }

    /// Returns the sizes; small ones take next to no time.
    func sizes(isQuick: Bool) -> Sizes {
        self == .incremental ? Sizes(rows: isQuick ? 200 : 10_000, changes: 20) : Sizes(rows: 50, changes: 0)
    }

    /// True if the gateway in Node.js takes part: what it does is the same wherever the checkpoints are.
    var hasNode: Bool { self != .idleServer }

    /// Returns what is measured, for a headline.
    func title(_ sizes: Sizes) -> String {
        switch self {
        case .idle: "pulls that bring nothing"
        case .idleServer: "pulls that bring nothing, checkpoints at the backend, which also says who calls"
        case .incremental: "pulls of \(sizes.changes) changed rows of \(Text.grouped(sizes.rows))"
        case .first: "first syncs of \(sizes.rows) rows, every caller new"
        case .push: "stream pushes of \(SmallPush.size) records"
        }
    }

    /// The least shares of other servers' requests a second that the gateway should reach.
    var goals: [SmallReport.Goal] {
        switch self {
        case .idle: [.init("nginx", rate: 0.35), .init("node", rate: 1.2), .init("nginx", percentile99: 4)]
        case .idleServer: [.init("nginx", rate: 0.3)]
        case .incremental: [.init("node", rate: 1.2)]
        case .first, .push: [.init("node", rate: 0.8)]
        }
    }

    /// Returns the gateway's configuration.
    func configuration(port: Int, backendPort: Int, state: URL, connections: Int) -> String {
        let base =
            self == .idleServer
            ? GatewayBaseline.configuration(port: port, backendPort: backendPort, state: state)
            : GatewayBaseline.idle(port: port, backendPort: backendPort, state: state)
        // As many pulls at a time as there are connections, if that is more than the default.
        return base + "\n[push]\npath = POST /sync/push\n"
            + (connections > 64 ? "[limits]\npulls = \(connections)\n" : "")
    }
}
