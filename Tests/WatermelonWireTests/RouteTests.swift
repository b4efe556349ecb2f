// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing
import WatermelonWire

@Suite struct RouteTests {
    private let dialect: WireDialect = {
        var dialect = WireDialect()
        dialect.syncPaths = ["/sync", "/users/{id}/sync/"].compactMap { PathPattern($0) }
        dialect.pullPaths = ["/sync/pull", "/trpc/sync.pull", "/both"].compactMap { PathPattern($0) }
        dialect.pushPaths = ["/sync/push", "/both"].compactMap { PathPattern($0) }
        return dialect
    }()

    @Test(
        arguments: [
            ("/sync", .sync), ("/sync/", .sync), ("/%73ync", .sync), ("/users/42/sync", .sync),
            ("/users/a%2Fb/sync/", .sync),
            ("/sync/pull", .pull), ("/sync/pull/", .pull), ("/trpc/sync%2Epull", .pull), ("/sync/push", .push),
            ("/both", .sync),
        ] as [(String, WireDialect.Route)])
    func `a configured path is served`(path: String, route: WireDialect.Route) {
        #expect(dialect.route(path) == route)
    }

    @Test(arguments: [
        "", "/", "sync", "//sync", "/sync//", "/Sync", "/sync/pul", "/sync/pull/x", "/synchronise", "/users//sync",
        "/users/./sync", "/users/../sync", "/users/%2e%2e/sync", "/users/42/43/sync", "/sync%2Fpull", "/sync?x", "*",
    ])
    func `every other path passes through`(path: String) {
        #expect(dialect.route(path) == nil)
    }

    @Test(arguments: ["", "sync", "//", "/a//b", "/a{b}", "/{}", "/{a", "/a}", "/{a}{b}", "/a?b", "/a#b", "/{a/b}"])
    func `a malformed pattern is none`(text: String) {
        #expect(PathPattern(text) == nil)
    }

    @Test(arguments: ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "get", ""])
    func `other methods are refused with the ones that work`(method: String) throws {
        for route in WireDialect.Route.allCases {
            let error = #expect(throws: WireError.self) {
                try RequestReader(dialect: dialect).read(method: method, route: route, query: "", body: [])
            }
            #expect(error?.code == .method && error?.status == 405)
            #expect(error?.allowedMethods == (route == .push ? ["POST"] : ["GET", "POST"]))
        }
    }

    @Test func `a push path takes no GET`() {
        #expect(codeOfReading("GET", "/sync/push?last_pulled_at=7") == .method)
    }

    @Test(
        arguments: [
            ("", []), ("/json", ["json"]), ("/a/0/b", ["a", "0", "b"]), ("/", [""]),
            ("/a~1b/c~0d/~01", ["a/b", "c~d", "~1"]),
        ] as [(String, [String])])
    func `a JSON pointer is taken apart`(pointer: String, steps: [String]) {
        #expect(WireDialect.steps(ofPointer: pointer) == steps)
    }

    @Test(arguments: ["json", "/a~", "/a~2"])
    func `a malformed JSON pointer is none`(pointer: String) {
        #expect(WireDialect.steps(ofPointer: pointer) == nil)
    }
}
