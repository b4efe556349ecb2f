// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@Suite struct PathPatternTests {
    @Test(arguments: [
        ("/sync", "/sync", true), ("/sync", "/sync/", true), ("/sync", "/sync/x", false), ("/sync", "/Sync", false),
        ("/sync", "/%73ync", true), ("/%73ync", "/sync", true), ("/sync", "/%2573ync", false),
        ("/a/{b}/sync", "/a/x/sync", true), ("/a/{b}/sync", "/a//sync", false),
        ("/a/{b}/sync", "/a/%2e%2E/sync", false),
        ("/a/{b}/sync", "/a/x%2Fy/sync", true), ("/a/b", "/a%2Fb", false), ("/", "/", true), ("/", "/a", false),
        ("/sync", "//sync", false), ("/sync", "sync", false), ("/sync", "", false), ("/a%zz", "/a%zz", true),
    ])
    func `a path matches by its decoded segments`(pattern: String, path: String, matches: Bool) throws {
        #expect(try #require(PathPattern(pattern)).matches(path) == matches)
    }

    @Test(arguments: ["", "sync", "//", "/a//b", "/a{b}", "/{}", "/{a", "/a}", "/{a}{b}", "/a?b", "/a#b", "/{a/b}"])
    func `a malformed pattern is none`(text: String) {
        #expect(PathPattern(text) == nil)
    }

    @Test func `covering includes everything below`() {
        let pattern = PathPattern(segments: [.text("admin"), .any(name: "x")])
        #expect(pattern.covers("/admin/a/b/c") && pattern.covers("/admin/a") && pattern.covers("/%61dmin/a/"))
        #expect(!pattern.covers("/admin") && !pattern.covers("/administrator/a") && !pattern.covers("/ADMIN/a"))
    }

    @Test func `letters may be compared without their case, and nothing else`() {
        let pattern = PathPattern(segments: [.text("a[K")])
        #expect(pattern.covers(segments: [Array("A[k".utf8)], ignoringCase: true))
        #expect(!pattern.covers(segments: [Array("A[k".utf8)]))
        #expect(!pattern.covers(segments: [Array("A{k".utf8)], ignoringCase: true))
    }

    @Test(arguments: ["/", "/sync", "/a/{b}/c%20d"])
    func `a pattern is written as it was read`(text: String) {
        #expect(PathPattern(text)?.description == text)
    }
}
