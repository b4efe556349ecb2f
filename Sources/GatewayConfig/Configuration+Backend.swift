// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension Configuration {
    /// `[backend]`: the system behind the gateway, and the form of its stream.
    package struct Backend: Hashable, Sendable {
        /// The URL of the backend; all calls go below this path.
        package var url: BaseURL
        /// The call that opens the stream; `{types}` are the request types, `{checkpoints}` the tokens by namespace.
        package var stream = Call(
            method: "POST", path: "/sync/stream", member: "types", placeholder: "types")
        /// The call that sets checkpoints, with `{acks}` for the tokens; nil if the backend has no such call.
        package var ack: Call? = Call(method: "POST", path: "/sync/ack", member: "acks", placeholder: "acks")
        /// The call that lists the session's checkpoints.
        package var list: Call? = Call(method: "GET", target: [.text("/sync/ack")])
        /// The call that forgets checkpoints; `{namespaces}` are their names.
        package var forget: Call? = Call(
            method: "DELETE", path: "/sync/ack", member: "types", placeholder: "namespaces")
        /// The side that keeps the checkpoints.
        package var checkpoints = CheckpointStyle.server
        /// The type of the line that ends a complete stream.
        package var completeType = "SyncCompleteV1"
        /// The type of the line that orders a reset: discard everything and begin again.
        package var resetType = "SyncResetV1"
        /// Types of lines that carry a token and no data.
        package var ackTypes = ["SyncAckV1"]
        /// The lines that report the ids given by the backend.
        package var idMap = IDMap()
        /// The member of a line that holds its type.
        package var typeField = "type"
        /// The member of a line that holds its token.
        package var ackField = "ack"
        /// The member of a line that holds the record.
        package var dataField = "data"
        /// The most tokens in one ack call.
        package var ackBatch = 1000
        /// The client's header fields, in lower case, that are forwarded besides the credential.
        package var forwardHeaders = ["accept-language", "user-agent", "x-request-id"]
        /// Those of them, in lower case, that do not show who is calling or what the caller may see, besides
        /// ``alwaysHarmless``.
        package var harmlessHeaders: [String] = []
        /// The fields that never show that.
        package static let alwaysHarmless = [
            "accept-language", "user-agent", "x-request-id", "x-correlation-id", "request-id", "traceparent",
            "tracestate", "x-forwarded-for", "x-forwarded-proto", "x-real-ip",
        ]
        /// The longest time for connecting, TLS included.
        package var connectTimeout: Duration = .seconds(10)
        /// The longest time from the end of the request to the first byte of the answer.
        package var firstByteTimeout: Duration = .seconds(60)
        /// The longest silence within an answer.
        package var idleTimeout: Duration = .seconds(60)
        /// The longest time for a whole call; zero for no limit.
        package var totalTimeout: Duration = .seconds(3600)
        /// The number of times that a broken stream is resumed before the pull fails.
        package var resumeAttempts = 3
        /// The time before the first resume; each further one waits twice as long.
        package var resumeBackoff: Duration = .milliseconds(200)
        /// The number of calls in a row without an answer after which syncs are refused for a while; 0 for never.
        package var breakerFailures = 10
        /// The time for which they are refused.
        package var breakerOpen: Duration = .seconds(10)
        /// The most calls at a time that try then whether the backend answers.
        package var breakerTrials = 1
        /// The most connections at a time.
        package var maxConnections = 512
        /// The most of them that the pass-through may take; zero for half.
        package var passThroughConnections = 0
        /// The number that it may take.
        package var passThroughShare: Int {
            passThroughConnections > 0 ? passThroughConnections : maxConnections / 2
        }
        /// A file of the certificate authorities that are trusted instead of the system's; the configuration file
        /// writes it relative to its own directory.
        package var caFile: String?
        /// The file of the certificate, in PEM, with which the gateway identifies itself to the backend; as ``caFile``.
        package var clientCertificate: String?
        /// The file of its private key; nil if that is in the certificate's file.
        package var clientKey: String?
        /// The fields that trusted proxies set for the pass-through; they are dropped otherwise.
        package var proxyFields: [String] = []
        /// The paths that the pass-through refuses besides those of the calls above, with everything below them.
        package var deniedPaths: [PathPattern] = []
        /// True if every other path passes through to the backend.
        package var passThrough = true

        /// Creates a backend with the defaults for all other keys.
        package init(url: BaseURL) { self.url = url }
    }
}

extension Call {
    /// Creates a call whose body is an object of one member with one placeholder.
    fileprivate init(method: String, path: String, member: String, placeholder: String) {
        self.init(method: method, target: [.text(path)])
        body = .object([.init(name: member, value: .value(placeholder))])
    }
}
