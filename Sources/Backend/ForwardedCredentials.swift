// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// The header fields of a client's request that go along to the backend: its credential, and what is configured.
///
/// Never stored and never logged, which is why it has no description.
package struct ForwardedCredentials: Sendable {
    /// Names that are never forwarded, even where the configuration lists them (design §8): what belongs to one
    /// connection or one message, and what only a trusted proxy may say.
    private static let neverForwarded: Set<String> = [
        "host", "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
        "trailer", "transfer-encoding", "upgrade", "content-length", "content-type", "content-encoding",
        "accept-encoding", "accept", "expect", "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
        "x-real-ip", "idempotency-key", "if-match", "if-none-match", "range",
    ]

    /// The fields.
    package let fields: HTTPFields

    /// Takes from a client's request what may go along.
    ///
    /// - Parameters:
    ///   - requestFields: All fields of the request.
    ///   - tokenHeaders: Names besides `authorization` and `cookie` that carry a credential.
    ///   - forwardHeaders: Further names that go along.
    ///   - requestID: Goes along as `X-Request-Id`, so that the backend's log can be read beside the gateway's.
    package init(
        _ requestFields: HTTPFields, tokenHeaders: [String], forwardHeaders: [String], requestID: String?
    ) {
        var fields = HTTPFields()
        var taken: Set<String> = []
        for name in ["authorization", "cookie"] + tokenHeaders + forwardHeaders {
            let name = name.lowercased()
            guard !Self.neverForwarded.contains(name), taken.insert(name).inserted,
                let fieldName = HTTPField.Name(name)
            else { continue }
            for value in requestFields[values: fieldName] { fields.append(HTTPField(name: fieldName, value: value)) }
        }
        if let requestID, let name = HTTPField.Name("x-request-id") { fields[name] = requestID }
        self.fields = fields
    }
}
