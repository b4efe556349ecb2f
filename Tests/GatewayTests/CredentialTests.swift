// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SyncModel
import Testing

@testable import Gateway

@Suite struct CredentialTests {
    private static func fields(_ pairs: [(String, String)]) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        return fields
    }

    private static let digests = KeyedDigest(key: Array("0123456789012345678901234567890123456789".utf8))

    private static func session(_ pairs: [(String, String)], tokenHeaders: [String] = []) throws -> String {
        let credential = try #require(Credential(try fields(pairs), tokenHeaders: tokenHeaders))
        return digests.digits(.session, credential.sessionParts)
    }

    @Test func `a request without any credential has none`() throws {
        #expect(Credential(try Self.fields([("accept", "*/*")]), tokenHeaders: ["x-jwt-token"]) == nil)
        #expect(Credential(try Self.fields([("authorization", "")]), tokenHeaders: []) == nil)
    }

    @Test func `the case of the scheme makes no difference`() throws {
        #expect(
            try Self.session([("authorization", "bearer device-a")])
                == Self.session([("Authorization", "Bearer  device-a")]))
        #expect(
            try Self.session([("authorization", "Bearer device-a")])
                != Self.session([("authorization", "Bearer device-A")]))
    }

    @Test func `cookies do not change the session of a caller with a token`() throws {
        let token = ("authorization", "Bearer t")
        #expect(try Self.session([token, ("cookie", "_ga=1")]) == Self.session([token, ("cookie", "_ga=2")]))
        #expect(try Self.session([("cookie", "sid=1")]) != Self.session([("cookie", "sid=2")]))
    }

    @Test func `what the backend accepts is the whole credential, cookies beside a token included`() throws {
        func accepted(_ cookies: String) throws -> String {
            let fields = try Self.fields([("authorization", "Basic c3RhZ2luZw=="), ("cookie", cookies)])
            return Self.digests.digits(.credential, try #require(Credential(fields, tokenHeaders: [])).allParts)
        }
        // A shared token before a login by cookie must not make one caller of two.
        #expect(try accepted("sid=ada") != accepted("sid=bob"))
        #expect(try accepted("sid=ada") == accepted("sid=ada"))
    }

    @Test func `a token in a header of its own counts where it is configured`() throws {
        let fields = try Self.fields([("x-jwt-token", "t")])
        #expect(Credential(fields, tokenHeaders: []) == nil)
        #expect(
            Credential(fields, tokenHeaders: ["x-jwt-token"])?.bearerParts == [Array("bearer".utf8), Array("t".utf8)])
    }

    @Test func `a forwarded field that is not harmless makes another credential, session and caller`() throws {
        func credential(_ tenant: String?) throws -> Credential {
            let tenants = tenant.map { [("X-Tenant", $0)] } ?? []
            let fields = try Self.fields([("authorization", "Bearer t"), ("cookie", "sid=1")] + tenants)
            return try #require(Credential(fields, tokenHeaders: [], contextHeaders: ["x-tenant"]))
        }
        let (none, one, two) = try (credential(nil), credential("1"), credential("2"))
        for parts in [\Credential.allParts, \.sessionParts] {
            #expect(Set([none[keyPath: parts], one[keyPath: parts], two[keyPath: parts]]).count == 3)
        }
        #expect(Set([none.bearerParts, one.bearerParts, two.bearerParts]).count == 3)
        let cookies = [none, one, two].map { $0.principalParts(ofCookie: "sid") }
        #expect(Set(cookies).count == 3 && !cookies.contains(nil))
        // Where it is not sent nothing is different from a configuration that does not forward it.
        let plain = try #require(
            Credential(try Self.fields([("authorization", "Bearer t"), ("cookie", "sid=1")]), tokenHeaders: []))
        #expect(none.sessionParts == plain.sessionParts && none.bearerParts == plain.bearerParts)
        #expect(plain.bearerParts == [Array("bearer".utf8), Array("bearer t".utf8)])
    }

    @Test func `the field in which a proxy names the caller is no token`() throws {
        func credential(_ user: String, _ pairs: (String, String)...) throws -> Credential {
            let fields = try Self.fields([("x-user", user)] + pairs)
            return try #require(Credential(fields, tokenHeaders: [], proxyField: "x-user"))
        }
        let cookies = try ["sid=1", "sid=2"].map { try credential("ada", ("cookie", $0)) }
        #expect(cookies[0].sessionParts != cookies[1].sessionParts)
        #expect(cookies[0].bearerToken == nil && cookies[0].bearerParts == nil)
        let token = ("authorization", "Bearer t")
        let tokens = try ["_ga=1", "_ga=2"].map { try credential("ada", token, ("cookie", $0)) }
        #expect(tokens[0].sessionParts == tokens[1].sessionParts)
        #expect(tokens[0].bearerToken == "t")
        // A proxy may have one token for all callers.
        #expect(try credential("ada", token).sessionParts != credential("bob", token).sessionParts)
        #expect(try credential("ada").sessionParts != credential("bob").sessionParts)
    }

    @Test func `a second token beside a shared one makes another caller`() throws {
        func parts(_ token: String) throws -> [[UInt8]]? {
            let fields = try Self.fields([("authorization", "Basic c3RhZ2luZw=="), ("x-jwt-token", token)])
            return Credential(fields, tokenHeaders: ["x-jwt-token"])?.bearerParts
        }
        #expect(try parts("ada") != parts("bob"))
    }

    @Test(
        arguments: [
            ("sid=abc", "abc"), ("a=1; sid=\"q\"; b=2", "q"), ("xsid=1", nil), ("sid=", nil), ("sid", nil),
            ("SID=1", nil), ("a=b=c; sid=x=y", "x=y"),
        ] as [(String, String?)])
    func `a cookie is found by its name`(_ cookies: String, _ value: String?) throws {
        let credential = try #require(Credential(try Self.fields([("cookie", cookies)]), tokenHeaders: []))
        #expect(credential.cookie(named: "sid") == value)
    }

    @Test func `digests differ by purpose, by key and by where parts end`() {
        let parts = [[UInt8]]([[1, 2], [3]])
        #expect(Self.digests.digits(.session, parts) != Self.digests.digits(.principal, parts))
        #expect(Self.digests.digits(.session, parts) != Self.digests.digits(.session, [[1], [2, 3]]))
        #expect(
            Self.digests.digits(.session, parts)
                != KeyedDigest(key: [UInt8](repeating: 7, count: 32)).digits(.session, parts))
        #expect(Self.digests.digits(.session, parts).count == 32)
    }

    @Test func `a scope makes another principal and another credential, and none leaves both as they are`() {
        let digests = Self.digests
        let (id, farm) = (ScopeName(.path, "id"), ScopeName(.query, "id"))
        let scopes = [
            SyncScope([id: "7"]), SyncScope([id: "8"]), SyncScope([farm: "7"]), SyncScope([id: "7", farm: "8"]),
            SyncScope([id: "7query.id8"]),
        ]
        for purpose in [KeyedDigest.Purpose.principal, .credential] {
            let all = ["aa", "bb"].flatMap { digest in scopes.map { digests.digits(purpose, digest, in: $0) } }
            #expect(Set(all + ["aa", "bb"]).count == 12 && all.allSatisfy { $0.count == 32 })
            #expect(digests.digits(purpose, "aa", in: .none) == "aa")
        }
        #expect(digests.digits(.principal, "aa", in: scopes[0]) != digests.digits(.credential, "aa", in: scopes[0]))
    }

    @Test func `who the caller is does not show that they may see a scope`() {
        let (none, some) = (Admission(), Admission())
        none.name(in: .none)
        some.name(in: SyncScope([ScopeName(.path, "id"): "7"]))
        #expect(none.isNamed && none.isAccepted && some.isNamed && !some.isAccepted)
        some.accept()
        #expect(some.isAccepted)
    }
}
