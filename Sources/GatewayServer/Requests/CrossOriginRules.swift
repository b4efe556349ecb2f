// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// Decides which web pages may call the gateway, and sets the fields for browsers (the Fetch standard, "HTTP CORS
/// protocol").
package struct CrossOriginRules: Sendable {
    /// The time for which a browser may remember a preflight's answer, in seconds; browsers cap longer ones.
    static let maximumAge = 7_200
    private static let exposed = "Rind-Error, X-Request-Id, Retry-After"

    private let origins: Set<String>
    private let allowsAll: Bool

    /// Creates rules for a list of origins, or `*` alone; with an empty list no fields are set.
    package init(origins: [String]) {
        self.origins = Set(origins)
        allowsAll = origins.contains("*")
    }

    /// True if fields for browsers are set.
    package var isOn: Bool { !origins.isEmpty }

    /// Decides whether an origin may call.
    package func allows(_ origin: String) -> Bool { allowsAll || origins.contains(origin.lowercased()) }

    /// Returns the cross-origin fields of an answer to a request with these fields.
    package func answerFields(for request: HTTPFields) -> HTTPFields {
        guard isOn else { return [:] }
        var fields = HTTPFields()
        if !allowsAll { fields[.vary] = "Origin" }
        guard let origin = request[.origin], allows(origin) else { return fields }
        fields[.accessControlAllowOrigin] = allowsAll ? "*" : origin
        // Never with "*": any page could then use the cookies of its visitors.
        if !allowsAll { fields[.accessControlAllowCredentials] = "true" }
        fields[.accessControlExposeHeaders] = Self.exposed
        return fields
    }

    /// Returns true if a request asks for permission rather than for a resource.
    package static func isPreflight(_ method: HTTPRequest.Method, _ fields: HTTPFields) -> Bool {
        method == .options && fields[.origin] != nil && fields[.accessControlRequestMethod] != nil
    }

    /// Returns the fields of the answer to a preflight, except those of ``answerFields(for:)``.
    ///
    /// - Parameters:
    ///   - request: The preflight's fields.
    ///   - methods: The methods that the path allows.
    /// - Returns: The permissions for the browser; for an origin that is not allowed, only the field that caches need.
    package func preflightFields(for request: HTTPFields, methods: [String]) -> HTTPFields {
        var fields = HTTPFields()
        fields[.vary] = "Access-Control-Request-Method, Access-Control-Request-Headers"
        guard let origin = request[.origin], allows(origin) else { return fields }
        fields[.accessControlAllowMethods] = methods.joined(separator: ", ")
        // Named one by one, since "*" does not cover Authorization.
        let asked = (request[.accessControlRequestHeaders] ?? "").split(separator: ",").map(\.trimmedSpaces)
        let names = asked.prefix(64).filter { HTTPField.Name($0) != nil && $0.utf8.count <= 128 }
        if !names.isEmpty { fields[.accessControlAllowHeaders] = names.joined(separator: ", ") }
        fields[.accessControlMaxAge] = String(Self.maximumAge)
        return fields
    }

    /// Returns true if a page of another site might have sent this request with its visitor's cookies.
    ///
    /// Browsers send some requests, cookies included, without a preflight; a push is one of them if its body is
    /// labelled as text.
    package func isForgeable(_ request: HTTPFields) -> Bool {
        guard request[.cookie] != nil, request[.authorization] == nil, let origin = request[.origin] else {
            return false
        }
        if origins.contains(origin.lowercased()) { return false }
        guard let separator = origin.firstRange(of: "://"), let host = request[.hostName] else { return true }
        return origin[separator.upperBound...].lowercased() != host.lowercased()
    }
}
