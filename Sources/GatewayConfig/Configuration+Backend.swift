// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension Configuration {
    /// `[backend]`: the system behind the gateway and the manner of its stream.
    package struct Backend: Hashable, Sendable {
        /// Where it is; all calls go below this path.
        package var url: BaseURL
        /// Opens the stream; `{types}` are the request types, `{checkpoints}` the tokens by namespace.
        package var stream = Call(
            method: "POST", path: "/sync/stream", member: "types", placeholder: "types")
        /// Sets checkpoints, where `{acks}` are the tokens; nil where the backend has no such call.
        package var ack: Call? = Call(method: "POST", path: "/sync/ack", member: "acks", placeholder: "acks")
        /// Lists the session's checkpoints.
        package var list: Call? = Call(method: "GET", target: [.text("/sync/ack")])
        /// Forgets checkpoints; `{namespaces}` are the names of those.
        package var forget: Call? = Call(
            method: "DELETE", path: "/sync/ack", member: "types", placeholder: "namespaces")
        /// Who keeps the checkpoints.
        package var checkpoints = CheckpointStyle.server
        /// The type of the line that ends a complete stream.
        package var completeType = "SyncCompleteV1"
        /// The type of the line that says: forget everything and begin anew.
        package var resetType = "SyncResetV1"
        /// Types of lines that carry a token and no data.
        package var ackTypes = ["SyncAckV1"]
        /// Lines that tell which ids the backend has given.
        package var idMap = IDMap()
        /// The member of a line that holds its type.
        package var typeField = "type"
        /// The member of a line that holds its token.
        package var ackField = "ack"
        /// The member of a line that holds the record.
        package var dataField = "data"
        /// The most tokens in one ack call.
        package var ackBatch = 1000
        /// The client's header fields, in lower case, that go along besides the credential.
        package var forwardHeaders = ["accept-language", "user-agent", "x-request-id"]
        /// Those of them, in lower case, that say nothing about who is calling or what they may see, besides
        /// ``alwaysHarmless``.
        package var harmlessHeaders: [String] = []
        /// The fields that never do.
        package static let alwaysHarmless = [
            "accept-language", "user-agent", "x-request-id", "x-correlation-id", "request-id", "traceparent",
            "tracestate", "x-forwarded-for", "x-forwarded-proto", "x-real-ip",
        ]
        /// How long connecting may take, TLS included.
        package var connectTimeout: Duration = .seconds(10)
        /// How long the first byte of an answer may take after the request is sent.
        package var firstByteTimeout: Duration = .seconds(60)
        /// The longest silence within an answer.
        package var idleTimeout: Duration = .seconds(60)
        /// How long a whole call may take; zero is without limit.
        package var totalTimeout: Duration = .seconds(3600)
        /// How often a broken stream is resumed before the pull fails.
        package var resumeAttempts = 3
        /// How long the first resume waits; each further one twice as long.
        package var resumeBackoff: Duration = .milliseconds(200)
        /// The most connections at a time.
        package var maxConnections = 256
        /// How many of them what passes through may take; zero is half.
        package var passThroughConnections = 0
        /// A file of the certificate authorities that are trusted instead of the system's; as the file writes it,
        /// relative to the configuration file's directory.
        package var caFile: String?
        /// Fields of the pass-through that a proxy on this machine sets, and that are dropped otherwise.
        package var proxyFields: [String] = []
        /// Paths that the pass-through refuses besides those of the calls above, with everything below them.
        package var deniedPaths: [PathPattern] = []
        /// Whether every other path goes through to the backend.
        package var passThrough = true

        /// The defaults around what has none.
        package init(url: BaseURL) { self.url = url }
    }
}

extension Call {
    /// A call whose body is an object of one member with one placeholder.
    fileprivate init(method: String, path: String, member: String, placeholder: String) {
        self.init(method: method, target: [.text(path)])
        body = .object([.init(name: member, value: .value(placeholder))])
    }
}
