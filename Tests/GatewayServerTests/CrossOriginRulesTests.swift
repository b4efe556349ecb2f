// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayServer
import HTTPTypes
import Testing

private let hostName = HTTPField.Name("Host") ?? .origin

@Suite struct CrossOriginRulesTests {
    private let rules = CrossOriginRules(origins: ["https://app.example.com", "capacitor://localhost"])

    @Test func `a listed origin is named, with its credentials`() {
        let fields = rules.answerFields(for: [.origin: "https://app.example.com"])
        #expect(fields[.accessControlAllowOrigin] == "https://app.example.com")
        #expect(fields[.accessControlAllowCredentials] == "true")
        #expect(fields[.accessControlExposeHeaders] == "Rind-Error, X-Request-Id, Retry-After")
        #expect(fields[.vary] == "Origin")
    }

    @Test(arguments: [
        "https://evil.example.com", "https://app.example.com.evil", "null", "https://app.example.com:444",
    ])
    func `another origin is told nothing, and caches know why`(origin: String) {
        #expect(rules.answerFields(for: [.origin: origin]) == [.vary: "Origin"])
        #expect(rules.preflightFields(for: [.origin: origin], methods: ["GET"])[.accessControlAllowMethods] == nil)
    }

    @Test func `a star never comes with credentials`() {
        let fields = CrossOriginRules(origins: ["*"]).answerFields(for: [.origin: "https://any.example"])
        #expect(fields[.accessControlAllowOrigin] == "*" && fields[.accessControlAllowCredentials] == nil)
    }

    @Test func `without origins browsers are told nothing`() {
        #expect(CrossOriginRules(origins: []).answerFields(for: [.origin: "https://a"]).isEmpty)
    }

    @Test func `a preflight gets the methods and the fields that it asks for`() throws {
        let asked = try #require(HTTPField.Name("Access-Control-Request-Headers"))
        let request: HTTPFields = [
            .origin: "capacitor://localhost", .accessControlRequestMethod: "POST",
            asked: "authorization, content-type,x-a b,,x-ok",
        ]
        #expect(CrossOriginRules.isPreflight(.options, request))
        #expect(!CrossOriginRules.isPreflight(.get, request) && !CrossOriginRules.isPreflight(.options, [:]))
        let fields = rules.preflightFields(for: request, methods: ["GET", "POST"])
        #expect(fields[.accessControlAllowMethods] == "GET, POST")
        #expect(fields[.accessControlAllowHeaders] == "authorization, content-type, x-ok")
        #expect(fields[.accessControlMaxAge] == "7200")
        #expect(fields[.vary] == "Access-Control-Request-Method, Access-Control-Request-Headers")
    }

    @Test(
        arguments: [
            ([.cookie: "s=1", .origin: "https://evil.example"], true),
            ([.cookie: "s=1", .origin: "null"], true),
            ([.cookie: "s=1", .origin: "https://app.example.com"], false),
            ([.cookie: "s=1", .origin: "https://sync.example.com", hostName: "sync.example.com"], false),
            ([.cookie: "s=1", .origin: "https://sync.example.com:8443", hostName: "sync.example.com"], true),
            ([.cookie: "s=1"], false), ([.origin: "https://evil.example"], false),
            ([.cookie: "s=1", .authorization: "Bearer a", .origin: "https://evil.example"], false),
        ] as [(HTTPFields, Bool)])
    func `a push that another site may have sent with cookies is told apart`(fields: HTTPFields, forgeable: Bool) {
        #expect(rules.isForgeable(fields) == forgeable)
    }
}
