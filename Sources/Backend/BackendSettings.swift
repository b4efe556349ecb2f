// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
package import SyncModel

/// How the backend is spoken to: everything that the section `[backend]` of the configuration says.
package struct BackendSettings: Hashable, Sendable {
    /// Where the checkpoints of a device are kept.
    package enum CheckpointStyle: String, CaseIterable, Sendable {
        /// The backend keeps them for each session; they are set, listed and forgotten by calls of their own.
        case server
        /// They travel in the stream request.
        case request
    }

    /// The backend's URL without a slash at its end; targets are appended to it as they are.
    package let baseURL: String
    /// Asks for the stream; `{types}`, and in style `request` `{checkpoints}` (an object) or `{acks}` (an array).
    package var stream: Call
    /// Sets checkpoints: `{acks}`.
    package var acknowledge: Call?
    /// Lists checkpoints; `returns` may say where the array stands in the answer.
    package var list: Call?
    /// Forgets checkpoints: `{namespaces}`, which is left out where all are meant.
    package var forget: Call?
    /// Takes pushed operations as JSONL in one transaction.
    package var streamPush: Call?
    /// Who keeps the checkpoints.
    package var checkpoints = CheckpointStyle.server
    /// The member of a listed checkpoint that names its type.
    package var typeField = "type"
    /// The member of a listed checkpoint that holds its token.
    package var ackField = "ack"
    /// How many tokens go into one call; Immich takes 1000.
    package var ackBatch = 1000

    /// For the stream; `idle` is how long it may be silent, `total` is normally nil.
    package var streamTimeouts = CurlTimeouts()
    /// For every other call; `total` bounds it as a whole.
    package var callTimeouts = CurlTimeouts(total: .seconds(120))

    /// How long the body of an error may take; it is wanted for the log only.
    package var errorBodyTimeout = Duration.seconds(5)
    /// Whether compressed streams are asked for; never `br`, which holds back megabytes before it gives any.
    package var offersGzip = true
    /// The most bytes of one stream, after decompression.
    package var maximumStreamBytes = 64 << 30
    /// The most bytes of one line, for whoever cuts the stream into lines.
    package var maximumLineBytes = 16 << 20
    /// The most bytes of the answer to a call.
    package var maximumAnswerBytes = 1 << 20
    /// The most bytes of the answer to a stream push, which has a line for each operation.
    package var maximumPushAnswerBytes = 32 << 20
    /// The most checkpoints that a list may have.
    package var maximumCheckpoints = 10_000
    /// The most bytes of one token.
    package var maximumTokenBytes = 4096

    /// Settings with the usual limits.
    package init(baseURL: String, stream: Call) {
        var base = baseURL
        while base.hasSuffix("/") { base.removeLast() }
        self.baseURL = base
        self.stream = stream
    }
}
