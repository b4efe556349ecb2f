// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
package import SyncModel

/// The settings for the exchanges with the backend: the section `[backend]` of the configuration.
package struct BackendSettings: Hashable, Sendable {
    /// The backend's URL without a slash at its end; targets are appended to it as they are.
    package let baseURL: String
    /// The call that opens the stream; with `{types}`, and in style `request` also `{checkpoints}` (an object) or
    /// `{acks}` (an array).
    package var stream: Call
    /// The call that sets checkpoints: `{acks}`.
    package var acknowledge: Call?
    /// The call that lists checkpoints; `returns` may name the array's path in the answer.
    package var list: Call?
    /// The call that forgets checkpoints: `{namespaces}`, which is left out to forget all.
    package var forget: Call?
    /// The call that takes pushed operations as JSONL in one transaction.
    package var streamPush: Call?
    /// The place where the checkpoints are kept.
    package var checkpoints = CheckpointStyle.server
    /// The member of a listed checkpoint that names its type.
    package var typeField = "type"
    /// The member of a listed checkpoint that holds its token.
    package var ackField = "ack"
    /// The number of tokens in one call; Immich takes 1000.
    package var ackBatch = 1000

    /// The time limits of the stream; `idle` is the longest silence, `total` is normally nil.
    package var streamTimeouts = CurlTimeouts()
    /// The time limits of every other call; `total` is for the whole call.
    package var callTimeouts = CurlTimeouts(total: .seconds(120))

    /// The longest time for reading the body of an error, or of a probe's answer.
    package var errorBodyTimeout = Duration.seconds(5)
    /// True if compressed streams are asked for; never `br`, which holds back megabytes before it yields any.
    package var offersGzip = true
    /// The most bytes of one stream, after decompression.
    package var maximumStreamBytes = 64 << 30
    /// The most bytes of one line, for the code that cuts the stream into lines.
    package var maximumLineBytes = 16 << 20
    /// The most bytes of the answer to a call.
    package var maximumAnswerBytes = 1 << 20
    /// The most bytes of the answer to a stream push, which has a line for each operation.
    package var maximumPushAnswerBytes = 32 << 20
    /// The most checkpoints that a list may have.
    package var maximumCheckpoints = 10_000
    /// The most bytes of one token.
    package var maximumTokenBytes = 4096

    /// Creates settings with the usual limits.
    package init(baseURL: String, stream: Call) {
        var base = baseURL
        while base.hasSuffix("/") { base.removeLast() }
        self.baseURL = base
        self.stream = stream
    }
}
