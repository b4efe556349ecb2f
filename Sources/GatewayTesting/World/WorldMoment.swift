// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names what a request is about to do outside of its gateway.
///
/// At each moment anything else may happen: other requests go on, a call is lost, the gateway dies.
package enum WorldMoment: Hashable, Sendable {
    /// A call to the backend, by method and path.
    case call(String)
    /// The next item of the backend's stream: a query or a line.
    case line
    /// A transaction that only reads the state.
    case reading
    /// One that writes.
    case writing

    /// The call that opens the stream.
    package static let open = call("POST /sync/stream")
    /// The one that sets checkpoints, or confirms a reset.
    package static let acknowledge = call("POST /sync/ack")
    /// The one that asks which checkpoints there are.
    package static let list = call("GET /sync/ack")
    /// The one that takes checkpoints away.
    package static let forget = call("DELETE /sync/ack")
    /// The one that pushes everything at once.
    package static let push = call("POST /sync/push")
}
