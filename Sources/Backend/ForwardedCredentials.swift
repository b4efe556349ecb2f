// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import SyncModel

/// The header fields of a client's request that are forwarded to the backend, above all its credential, and the scope
/// of the sync that calls are made for.
///
/// The fields are never stored or logged: only their names are printed.
package struct ForwardedCredentials: Hashable, Sendable {
    /// The fields, in the client's order.
    package let fields: HTTPFields
    /// The scope whose values calls have for `{path.…}` and `{query.…}`.
    package let scope: SyncScope

    /// No fields: an anonymous request to the backend.
    package static let none = ForwardedCredentials(fields: [:])

    fileprivate init(fields: HTTPFields, scope: SyncScope = .none) {
        self.fields = fields
        self.scope = scope
    }

    /// Sets the scope.
    package func with(scope: SyncScope) -> Self { ForwardedCredentials(fields: fields, scope: scope) }

    /// Adds the id of the request, so that the backend's log can be matched with the gateway's, and the fields that tell
    /// where it comes from, in place of those that the client has set.
    package func with(requestID: String, originFields: HTTPFields = [:]) -> Self {
        var added = originFields
        if let name = Self.requestIDName { added.append(HTTPField(name: name, value: requestID)) }
        // Appended and not set by name, for which an index would be made at each call.
        var fields = HTTPFields()
        for field in self.fields where !added.contains(where: { $0.name == field.name }) { fields.append(field) }
        fields.append(contentsOf: added)
        return ForwardedCredentials(fields: fields, scope: scope)
    }

    private static let requestIDName = HTTPField.Name("x-request-id")

    /// The id of the request, if it is forwarded.
    var requestID: String? { Self.requestIDName.flatMap { fields[$0] } }

    /// A number that tells callers apart while the process runs.
    var callerNumber: Int {
        var hasher = Hasher()
        for field in fields where !Self.changing.contains(field.name.canonicalName) {
            hasher.combine(field.name)
            hasher.combine(field.value)
        }
        return hasher.finalize()
    }

    /// The fields that may differ from one request of a caller to the next.
    private static let changing: Set = harmless.union([
        "request-id", "traceparent", "tracestate", "x-correlation-id", "x-real-ip",
    ])

    /// The fields that do not identify the caller.
    private static let harmless: Set<String> = [
        "accept-language", "user-agent", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id",
    ]

    /// Masks every credential in the text, and every beginning of one, as it was sent or escaped.
    package func masked(in text: String) -> String {
        var secrets: Set<String> = []
        for field in fields where !Self.harmless.contains(field.name.canonicalName) {
            // The token behind its scheme, the values of cookies, and the two halves of a pair.
            let words = field.value.split { " ;,=\t".contains($0) }.map(String.init)
            for secret in words + [field.value] where secret.utf8.count >= 6 {
                secrets.insert(secret)
                secrets.insert(secret.replacing("/", with: "\\/"))
                secrets.insert(PercentCoding.encode(secret))
            }
        }
        return ForeignText.masked(text, secrets: Array(secrets))
    }

    /// True if no fields are forwarded.
    package var isEmpty: Bool { fields.isEmpty }
}

extension ForwardedCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the fields, without their values.
    package var description: String { "[" + fields.map(\.name.rawName).joined(separator: ", ") + "]" }
    /// The names of the fields, without their values.
    package var debugDescription: String { description }
    /// An empty mirror: a default one would show the values.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

/// Decides which header fields of a client's request are forwarded to the backend.
package struct ForwardingRule: Hashable, Sendable {
    /// The fields that are never forwarded, even if the configuration lists them.
    ///
    /// Fields of the connection (RFC 9110, 7.6.1), those that frame the message or name its encoding, which the gateway
    /// decides by itself, and those that would change the meaning of an answer.
    package static let never: Set<String> = [
        "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect",
        "host", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "range",
        "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The fields that are forwarded, by their names in small letters.
    package let names: Set<String>
    /// The fields that identify the user; only a trusted proxy may set them.
    package let identityNames: Set<String>
    /// The listed fields that are never forwarded, for a warning.
    package let ignored: [String]

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - listed: Names in any case, such as `authorization` and `cookie`.
    ///   - identity: Names of fields that identify the user, such as `X-User`; accepted only from trusted peers.
    package init(listed: [String], identity: [String] = []) {
        let lowered = listed.map { $0.lowercased() }
        names = Set(lowered).subtracting(Self.never)
        identityNames = Set(identity.map { $0.lowercased() })
        ignored = lowered.filter { Self.never.contains($0) }
    }

    /// Returns the fields of a client's request that are forwarded.
    ///
    /// - Parameters:
    ///   - request: The request's fields; those that its `Connection` names are left out as well.
    ///   - isPeerTrusted: True if the request comes from a proxy that may identify the caller.
    /// - Returns: The forwarded fields.
    package func credentials(of request: HTTPFields, isPeerTrusted: Bool) -> ForwardedCredentials {
        let connection = Set(
            request[values: .connection].flatMap { $0.split(separator: ",") }.map { option in
                option.lowercased().filter { $0 != " " && $0 != "\t" }
            })
        var fields = HTTPFields()
        for field in request {
            let name = field.name.canonicalName
            guard names.contains(name), !connection.contains(name) else { continue }
            guard isPeerTrusted || !identityNames.contains(name) else { continue }
            fields.append(field)
        }
        return ForwardedCredentials(fields: fields)
    }
}
