// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Testing

@Suite struct EntityTagTests {
    @Test(arguments: [
        ("7", "\"7\""), ("0197-ab", "\"0197-ab\""), ("\"x\"", "\"x\""), ("W/\"x\"", "W/\"x\""), ("\"\"", "\"\""),
        ("W/x", "\"W/x\""), ("2026-11-20T09:30:00.000Z", "\"2026-11-20T09:30:00.000Z\""),
    ])
    func `a version is quoted unless it is a tag already`(version: String, expected: String) {
        #expect(EntityTag(version: version)?.text == expected)
    }

    @Test(arguments: [
        "", "a b", "a\"b", "a\r\nX: y", "\"a\r\nX: y\"", "\u{0}", "é", "\"", "\"a\"b\"",
        String(repeating: "x", count: 257),
    ])
    func `what cannot stand in a field is no tag`(version: String) {
        #expect(EntityTag(version: version) == nil)
    }
}
