// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// Which web pages may call the gateway, and how browsers are told (the Fetch standard, "HTTP CORS protocol").
package struct CrossOriginRules: Sendable {
    /// How long a browser may remember a preflight's answer, in seconds; no browser takes more.
    static let maximumAge = 7_200
    private static let exposed = "Rind-Error, X-Request-Id, Retry-After"

    private let origins: Set<String>
    private let allowsAll: Bool

    /// Rules for a list of origins, or `*` alone; with an empty list browsers are told nothing.
    package init(origins: [String]) {
        self.origins = Set(origins)
        allowsAll = origins.contains("*")
    }

    /// Whether browsers are told anything.
    package var isOn: Bool { !origins.isEmpty }

    /// Whether an origin may call.
    package func allows(_ origin: String) -> Bool { allowsAll || origins.contains(origin.lowercased()) }

    /// The fields of an answer to a request with these fields.
    package func answerFields(for request: HTTPFields) -> HTTPFields {
        guard isOn else { return [:] }
        var fields = HTTPFields()
        if !allowsAll { fields[.vary] = "Origin" }
        guard let origin = request[.origin], allows(origin) else { return fields }
        fields[.accessControlAllowOrigin] = allowsAll ? "*" : origin
        // Never with "*": any page could then use the cookies of whoever visits it.
        if !allowsAll { fields[.accessControlAllowCredentials] = "true" }
        fields[.accessControlExposeHeaders] = Self.exposed
        return fields
    }

    /// Whether a request asks for permission rather than for a resource.
    package static func isPreflight(_ method: HTTPRequest.Method, _ fields: HTTPFields) -> Bool {
        method == .options && fields[.origin] != nil && fields[.accessControlRequestMethod] != nil
    }

    /// The fields of the answer to a preflight, those of ``answerFields(for:)`` not among them.
    ///
    /// - Parameters:
    ///   - request: The preflight's fields.
    ///   - methods: What the path takes.
    /// - Returns: What the browser may do; for an origin that is not allowed only what caches need.
    package func preflightFields(for request: HTTPFields, methods: [String]) -> HTTPFields {
        var fields = HTTPFields()
        fields[.vary] = "Access-Control-Request-Method, Access-Control-Request-Headers"
        guard let origin = request[.origin], allows(origin) else { return fields }
        fields[.accessControlAllowMethods] = methods.joined(separator: ", ")
        // Named one by one, since "*" covers no Authorization.
        let asked = (request[.accessControlRequestHeaders] ?? "").split(separator: ",").map(\.trimmedSpaces)
        let names = asked.prefix(64).filter { HTTPField.Name($0) != nil && $0.utf8.count <= 128 }
        if !names.isEmpty { fields[.accessControlAllowHeaders] = names.joined(separator: ", ") }
        fields[.accessControlMaxAge] = String(Self.maximumAge)
        return fields
    }

    /// Whether a page of another site might have sent this request with its visitor's cookies.
    ///
    /// Browsers send some requests without asking, cookies included, and a push is one where its body is called text.
    package func isForgeable(_ request: HTTPFields) -> Bool {
        guard request[.cookie] != nil, request[.authorization] == nil, let origin = request[.origin] else {
            return false
        }
        if origins.contains(origin.lowercased()) { return false }
        guard let separator = origin.firstRange(of: "://"), let host = request[.hostName] else { return true }
        return origin[separator.upperBound...].lowercased() != host.lowercased()
    }
}
