// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayServer
import Testing

@Suite struct RequestTargetTests {
    @Test(arguments: ["/", "/a", "/a//b", "/a?b=//c", "/a?x=%2F..%2F", "/a;b", "/%73ync", "/a/../b"])
    func `an origin-form target is taken`(target: String) throws {
        try RequestTarget.check(target)
    }

    @Test(arguments: [
        "", "a", "*", "//", "//host/a", "http://host/a", "HTTP://host/", "host:443", "/a b", "/a\u{0}", "/a\u{7F}",
        "/a\\b",
        "/a#b", "/ü", "?a", "/a\tb", "\\a",
    ])
    func `every other target is refused`(target: String) {
        #expect(throws: GatewayFault.targetInvalid) { try RequestTarget.check(target) }
    }

    @Test func `a target that is too long has its own status`() throws {
        try RequestTarget.check("/" + String(repeating: "a", count: RequestTarget.maximumLength - 1))
        #expect(throws: GatewayFault.targetTooLong) {
            try RequestTarget.check("/" + String(repeating: "a", count: RequestTarget.maximumLength))
        }
    }

    @Test(arguments: [
        "/", "/a", "/a/", "/a//b", "/a.b/..c/...", "/a%20b", "/a%2Eb", "/%C3%BC", "/a;v=1", "/a:b@c", "/%25", "/%2541",
        "/.well-known/x",
    ])
    func `a path with one meaning passes`(path: String) throws {
        try RequestTarget.checkUnambiguous(path)
    }

    @Test(arguments: [
        "/.", "/..", "/a/../b", "/a/./b", "/%2e%2e/a", "/.%2E", "/a/%2e", "/a%2Fb", "/a%2fb", "/a%5Cb", "/a%00",
        "/a%0d%0a",
        "/a%7f", "/a%", "/a%4", "/a%zz", "/..;x=1/a", "/%2e%2e%3bx/a", "/.;/a",
    ])
    func `a path that could be read in two ways is refused`(path: String) {
        #expect(throws: GatewayFault.ambiguousPath) { try RequestTarget.checkUnambiguous(path) }
    }
}
