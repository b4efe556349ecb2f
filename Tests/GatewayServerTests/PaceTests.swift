// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayServer
import NIOCore
import Testing

/// Who is too slow, and who is not.
@Suite struct PaceTests {
    private static func after(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(1_000_000_000) + .seconds(seconds) }

    /// Whether a reader is too slow at each of these seconds, with so many bytes taken by then.
    private static func isTooSlow(rate: Int, _ looks: [(second: Int64, taken: UInt64)]) -> [Bool] {
        var pace = SendPace(patience: .seconds(60), rate: rate, taken: 0, at: after(0))
        return looks.map { pace.isTooSlow(taken: $0.taken, at: after($0.second)) }
    }

    /// How many milliseconds a body is waited for at each beginning of a wait; it ends with so many bytes.
    private static func patience(rate: Int, _ waits: [(from: Int64, to: Int64, bytes: Int)]) -> [Int64] {
        var pace = BodyPace(patience: .seconds(60), rate: rate)
        return waits.map { wait in
            let patience = pace.wait(at: after(wait.from))
            pace.receive(wait.bytes, at: after(wait.to))
            return patience.nanoseconds / 1_000_000
        }
    }

    @Test func `a reader that takes a byte within each timeout is never too slow`() {
        let looks = (1...100).map { (Int64($0) * 59, UInt64($0)) }
        #expect(Self.isTooSlow(rate: 0, looks) == Array(repeating: false, count: 100))
    }

    @Test func `a reader that takes nothing for as long as the timeout is too slow`() {
        #expect(Self.isTooSlow(rate: 0, [(30, 8), (89, 8), (90, 8)]) == [false, false, true])
    }

    @Test func `a reader below the least rate is too slow after one timeout`() {
        #expect(Self.isTooSlow(rate: 100, [(30, 3_000), (60, 5_999)]) == [false, true])
    }

    @Test func `a reader at the least rate is not too slow, and what came fast at first is no credit for ever`() {
        let looks: [(Int64, UInt64)] = [(60, 60_000), (120, 66_000), (179, 66_100), (180, 66_200)]
        #expect(Self.isTooSlow(rate: 100, looks) == [false, false, false, true])
    }

    @Test func `a body that drips is waited for as long as its timeout altogether, and a second more for its rate`() {
        let waits: [(Int64, Int64, Int)] = [(0, 30, 1), (30, 59, 100), (59, 80, 1), (80, 80, 0)]
        #expect(Self.patience(rate: 10, waits) == [60_000, 30_100, 11_100, 0])
    }

    @Test func `time in which nobody waits for a body does not count`() {
        // A backend takes its time; the second wait begins an hour later.
        let waits: [(Int64, Int64, Int)] = [(0, 1, 10), (3_600, 3_601, 0), (3_601, 3_602, 0)]
        #expect(Self.patience(rate: 10, waits) == [60_000, 60_000, 59_000])
    }

    @Test func `without a rate a body is waited for piece by piece`() {
        let waits = (0..<100).map { (Int64($0) * 50, Int64($0) * 50 + 50, 1) }
        #expect(Self.patience(rate: 0, waits) == Array(repeating: 60_000, count: 100))
    }
}
