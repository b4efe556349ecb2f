// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@Suite struct PathSegmentTests {
    @Test(arguments: ["a", "a.b", "...", "a%20b", "%25", "100%25", "%C3%BC", "a%3Bb", "%7E", "a..", "%2525%2525"])
    func `a segment that all servers read alike is clear however often it is decoded`(segment: String) {
        #expect(!PathSegment.isAmbiguousWhenDecodedAgain(segment.utf8))
    }

    @Test(arguments: [
        ".", "..", "%2E%2E", ".%2e", "..;a", "%2e%2e%3bx", "a%2Fb", "a%5Cb", "a%00", "a%0A", "a%7F", "a%2",
        "%20..%20", "..%20;a", ". ",
    ])
    func `a segment that servers read differently is ambiguous`(segment: String) {
        #expect(PathSegment.isAmbiguous(segment.utf8))
        #expect(PathSegment.isAmbiguousWhenDecodedAgain(segment.utf8))
    }

    @Test(arguments: ["%252e%252e", "a%252Fb", "a%25252fb", "a%2500", "a%250a", "a%255Cb", "%25C0%25AE%25C0%25AE"])
    func `one that becomes so once a server in between has decoded it is ambiguous where that may be`(
        segment: String
    ) {
        #expect(!PathSegment.isAmbiguous(segment.utf8))
        #expect(PathSegment.isAmbiguousWhenDecodedAgain(segment.utf8))
    }

    @Test func `escapes within escapes without end are ambiguous, and found out soon`() {
        let segment = "%25" + String(repeating: "25", count: 4_000) + "41"
        #expect(PathSegment.isAmbiguousWhenDecodedAgain(segment.utf8))
    }
}
