// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import SyncModel
import Testing

@Suite struct VersionTests {
    private static func diagnostics(_ schema: String) -> [Diagnostic] {
        Support.load(
            Support.minimal("[schema]\n\(schema)\n[table a]\nrequest = A\nupsert = B\n[columns a]\nn = string\n")
        )
        .diagnostics
    }

    @Test(arguments: [("", nil), ("0", 0), ("3", 3)] as [(String, Int?)])
    func `migrations begin at a version, at the oldest one, or never`(value: String, expected: Int?) throws {
        let text = Support.minimal(
            "[schema]\nversion = 9\noldest = 3\nmigrations_enabled_at = \(value)\n[table a]\n"
                + "request = A\nupsert = B\n[columns a]\nn = string\n")
        let (configuration, diagnostics) = Support.load(text)
        #expect(diagnostics.isEmpty)
        #expect(try #require(configuration).schema.migrationsEnabledAt == expected)
    }

    @Test(arguments: ["-1", "1.5", "two", "1000000001"])
    func `what is no version is a mistake at its position`(value: String) throws {
        let diagnostic = try #require(Self.diagnostics("version = 9\nmigrations_enabled_at = \(value)").first)
        #expect(diagnostic.severity == .error && diagnostic.position.line == 8 && diagnostic.position.column == 25)
    }

    @Test func `migrations cannot begin above the newest version`() throws {
        let found = Self.diagnostics("version = 9\nmigrations_enabled_at = 10")
        #expect(found.map(\.message) == ["migrations_enabled_at 10 is above version 9"])
        #expect(found.map(\.severity) == [.error])
        #expect(found.first?.hint?.contains("leave it out") == true)
    }

    @Test func `migrations that begin at a version which is not served cost a warning`() throws {
        let found = Self.diagnostics("version = 9\noldest = 4\nmigrations_enabled_at = 3")
        #expect(
            found.map(\.message) == ["migrations_enabled_at 3 is below oldest 4: a version that is not served"])
        #expect(found.map(\.severity) == [.warning])
        #expect(found.first?.hint != nil && found.first?.note?.message == "the oldest version is here")
    }

    @Test(arguments: [(5, "version 4"), (7, "versions 4 to 6")])
    func `clients that are served once and then refused are named`(enabled: Int, versions: String) throws {
        let found = Self.diagnostics("version = 9\noldest = 4\nmigrations_enabled_at = \(enabled)")
        #expect(
            found.map(\.message) == [
                "migrations_enabled_at \(enabled) is above oldest 4: clients of \(versions) are refused at their second "
                    + "sync"
            ])
        #expect(found.map(\.severity) == [.warning])
        #expect(found.first?.hint == "lower it to 4, or raise oldest to \(enabled) so that they are told to update")
    }

    @Test func `a header field can tell the version`() throws {
        let text = Support.minimal("[schema]\nversion_from = header:X-App-Schema\n")
        #expect(try #require(Support.load(text).configuration).versionFrom == .header(name: "x-app-schema"))
        #expect(try #require(Support.load(Support.minimal()).configuration).versionFrom == nil)
    }

    @Test(
        arguments: [
            ("X-App-Schema", "expected 'header:NAME', found 'X-App-Schema'", "did you mean 'header:X-App-Schema'?"),
            ("header:", "expected a header field, found nothing", nil),
            ("header: a b", "'a b' is no name of a header field", nil),
            ("query:v", "expected 'header:NAME', found 'query:v'", nil),
        ] as [(String, String, String?)])
    func `what names no header field is a mistake`(value: String, message: String, hint: String?) throws {
        let found = Self.diagnostics("version_from = \(value)")
        #expect(found.map(\.message) == [message])
        #expect(found.first?.hint == hint)
    }

    @Test(arguments: ["Authorization", "cookie", "x-jwt", "Host", "content-length"])
    func `a field with a meaning of its own cannot tell the version`(name: String) throws {
        let text = Support.minimal("[wire]\ntoken_header = x-jwt\n[schema]\nversion_from = header:\(name)\n")
        let found = Support.load(text).diagnostics.filter { $0.severity == .error }
        #expect(
            found.map(\.message) == [
                "'\(name.lowercased())' cannot tell the schema version: it has another meaning"
            ])
    }
}

/// Two versions of one request type at a time.
@Suite struct RequestedVersionTests {
    private static func text(_ requests: [String], since: [Int: Int] = [:], oldest: Int = 1) -> String {
        let tables = requests.enumerated().map { index, request in
            let line = since[index].map { "since = \($0)\n" } ?? ""
            let upsert = (1...3).map { "Line\(index)V\($0)" }.joined(separator: ", ")
            return
                "[table t\(index)]\n\(line)request = \(request)\nupsert = \(upsert)\n[columns t\(index)]\nn = string\n"
        }
        return Support.minimal("[schema]\nversion = 12\noldest = \(oldest)\n" + tables.joined())
    }

    private static func errors(_ text: String) -> [Diagnostic] {
        Support.load(text).diagnostics.filter { $0.severity == .error }
    }

    @Test func `tables that ask for different versions of a type at one client version are refused`() throws {
        let errors = Self.errors(Self.text(["AlbumsV1", "AlbumsV1 then AlbumsV2 since 12"]))
        #expect(
            errors.map(\.message) == [
                "'AlbumsV2' and 'AlbumsV1' are both asked for by clients of schema version 12"
            ])
        let error = try #require(errors.first)
        #expect((error.position.line, error.position.column, error.position.length) == (15, 25, 8))
        #expect(error.note?.position.line == 10 && error.note?.message == "'AlbumsV1' is asked for here")
        #expect(error.hint == "let all tables change from one to the other at the same version")
    }

    @Test(
        arguments: [
            ["AlbumsV1, AlbumsV2"], ["AlbumsV1", "AlbumsV2"], ["Albums", "AlbumsV2"],
            ["AlbumsV1 then AlbumsV2 since 5", "AlbumsV1 then AlbumsV2 since 6"],
            ["AlbumsV1 then AlbumsV2 since 5", "OtherV1", "AlbumsV1 then AlbumsV2 since 5 then AlbumsV3 since 9"],
            ["AlbumsV1", "AlbumsV1", "AlbumsV2"],
        ])
    func `wherever two versions meet there is one mistake`(requests: [String]) {
        #expect(Self.errors(Self.text(requests)).count == 1)
    }

    @Test(
        arguments: [
            ["AlbumsV1", "AlbumsV1"], ["AlbumsV1", "AlbumUsersV2"], ["AlbumsV1 then AlbumsV2 since 5", "AssetsV2"],
            ["AlbumsV1 then AlbumsV2 since 5", "AlbumsV1 then AlbumsV2 since 5"],
        ])
    func `one version at a time is fine`(requests: [String]) {
        #expect(Self.errors(Self.text(requests)).map(\.message) == [])
    }

    @Test func `only versions that are served count`() {
        let requests = ["AlbumsV1 then AlbumsV2 since 5", "AlbumsV2"]
        #expect(Self.errors(Self.text(requests)).count == 1)
        #expect(Self.errors(Self.text(requests, oldest: 5)).isEmpty)
        // A table that came with the later version never asks together with the earlier one.
        #expect(Self.errors(Self.text(requests, since: [1: 5])).isEmpty)
        #expect(Self.errors(Self.text(requests, since: [1: 4])).count == 1)
    }

    @Test func `many tables of one type are checked at once`() {
        let requests = Array(repeating: "AlbumsV1 then AlbumsV2 since 5", count: 900)
        #expect(Self.errors(Self.text(requests)).isEmpty)
        #expect(Self.errors(Self.text(requests + ["AlbumsV2"])).count == 1)
    }

    @Test(
        arguments: [
            ("AlbumV1", ["AlbumsV2"]), ("AlbumV2", ["AlbumsV1"]), ("AlbumV1, AlbumV2", []),
            ("AlbumV1, AlbumBackfillV2", []), ("Album", ["AlbumsV1", "AlbumsV2"]),
        ])
    func `a version of a request type without a row type of its number costs a warning`(
        upsert: String, types: [String]
    ) throws {
        let text = Support.minimal(
            "[schema]\nversion = 9\n[table a]\nrequest = AlbumsV1 then AlbumsV2 since 5\nupsert = \(upsert)\n"
                + "[columns a]\nn = string\n")
        let found = Support.load(text).diagnostics.filter { $0.severity == .warning }
        #expect(
            found.map(\.message)
                == types.map { "'\($0)' is asked for, and no type of its version is listed in 'upsert'" })
        #expect(found.allSatisfy { $0.hint?.contains("lines of others are skipped") == true })
    }
}
