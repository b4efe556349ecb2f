// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The side that keeps the checkpoints of a stream.
package enum CheckpointStyle: String, CaseIterable, Sendable {
    /// The backend, with one vector for each session, moved by ack calls.
    case server
    /// The gateway alone; the tokens travel in the stream request.
    case request
}
