// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
package import SyncModel

/// What the configuration says about the backend's protocol.
package struct BackendSettings: Sendable {
    /// The URL that all calls go below, without a final slash.
    package var url: String
    /// Opens the stream.
    package var stream: Call
    /// Sets checkpoints; nil where the backend keeps none.
    package var ack: Call?
    /// Lists checkpoints.
    package var list: Call?
    /// Forgets checkpoints.
    package var forget: Call?
    /// Takes a push as one stream of operations; nil where pushes go by calls.
    package var push: Call?
    /// The most tokens in one ack call.
    package var ackBatch = 1_000
    /// The member of a listed checkpoint that holds its token.
    package var ackField = "ack"
    /// The member of a listed checkpoint that holds its namespace's type.
    package var typeField = "type"
    /// Deadlines of the stream.
    package var streamTimeouts = CurlTimeouts()
    /// Deadlines of every other call.
    package var callTimeouts = CurlTimeouts()
    /// The most bytes of a stream after decompression.
    package var streamBytes = 16 << 30
    /// The most bytes of any other answer after decompression.
    package var answerBytes = 8 << 20
    /// How deep an answer may be nested.
    package var depth = 64

    /// The settings of a backend with these calls.
    package init(url: String, stream: Call, ack: Call?, list: Call?, forget: Call?, push: Call?) {
        self.url = url
        self.stream = stream
        self.ack = ack
        self.list = list
        self.forget = forget
        self.push = push
    }
}
