// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Telemetry
import Testing

@Suite struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test func `a trace goes on with a span of its own, its flags and its state`() {
        let parent = TraceParent("00-\(Self.trace)-\(Self.span)-01", state: "congo=t61", span: 0xab)
        #expect(parent?.traceID == Self.trace)
        #expect(parent?.field == "00-\(Self.trace)-00000000000000ab-01")
        #expect(parent?.state == "congo=t61")
        let long = TraceParent("00-\(Self.trace)-\(Self.span)-01", state: String(repeating: "a", count: 513))
        #expect(long != nil && long?.state == nil)
    }

    @Test func `a later version is read as far as it is known`() {
        let parent = TraceParent("cc-\(Self.trace)-\(Self.span)-09-more", span: 1)
        #expect(parent?.field == "00-\(Self.trace)-0000000000000001-00")
    }

    @Test(
        arguments: [
            "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-more", "ff-\(trace)-\(span)-01",
            "00-\(trace.uppercased())-\(span)-01", "00-\(trace.dropLast())-\(span)-01", "00-\(trace)-\(span)-1",
            "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
            "0x-\(trace)-\(span)-01", " 00-\(trace)-\(span)-01",
        ])
    func `what is no parent is ignored`(text: String) {
        #expect(TraceParent(text) == nil)
    }
}
