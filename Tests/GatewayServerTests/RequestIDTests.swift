// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayServer
import Testing

@Suite struct RequestIDTests {
    @Test(arguments: ["a", "0197-aB_c.9", "-", String(repeating: "x", count: 128)])
    func `a client's own name is kept`(text: String) { #expect(RequestID.accepted(text) == text) }

    @Test(arguments: [nil, "", " a", "a b", "a\nb", "ä", "a,b", "<x>", String(repeating: "x", count: 129)])
    func `what may not stand in a log is not`(text: String?) { #expect(RequestID.accepted(text) == nil) }

    @Test func `new names are different and acceptable`() {
        let names = (0..<100).map { _ in RequestID.random() }
        #expect(Set(names).count == 100)
        #expect(names.allSatisfy { $0.utf8.count == 16 && RequestID.accepted($0) == $0 })
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
    ])
    func `a date is written as fields write it`(seconds: Int, text: String) {
        #expect(HTTPDate.text(secondsSince1970: seconds) == text)
    }
}
