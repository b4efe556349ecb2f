// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// A maker of the UUIDs of version 7 that order changes.
final class UpdateIDs: Sendable {
    private struct Last {
        var milliseconds: Int64 = 0
        var counter: UInt64 = 0
    }
    private let last = NIOLockedValueBox(Last())
    private let order: DemoConfiguration.Order
    private let clock: DemoClock

    init(order: DemoConfiguration.Order, clock: DemoClock) {
        self.order = order
        self.clock = clock
    }

    /// Returns the id of a change that is made now.
    ///
    /// In commit order, each id is greater than all before it, regardless of the clock; in faithful order, 64 bits are
    /// random and ids of the same millisecond have no order.
    func next() -> String {
        switch order {
        case .faithful: return Self.uuid(milliseconds: clock.now, tail: .random(in: 0...UInt64.max))
        case .commit:
            let id = last.withLockedValue { last in
                let now = clock.now
                last =
                    now > last.milliseconds
                    ? Last(milliseconds: now) : Last(milliseconds: last.milliseconds, counter: last.counter + 1)
                return last
            }
            return Self.uuid(milliseconds: id.milliseconds, tail: id.counter << 32 | .random(in: 0...0xFFFF_FFFF))
        }
    }

    /// Returns the id below which a stream that begins now reads.
    ///
    /// In faithful order, it leaves out the last millisecond, like a database whose ids have no order within one.
    func bound() -> String {
        switch order {
        case .faithful: Self.uuid(milliseconds: clock.now - 1, tail: .random(in: 0...UInt64.max))
        case .commit: next()
        }
    }

    /// Makes coming ids greater than an id that an earlier run of the backend made.
    func resume(after id: String) {
        guard let milliseconds = Self.milliseconds(of: id) else { return }
        last.withLockedValue { last in
            if milliseconds >= last.milliseconds { last = Last(milliseconds: milliseconds + 1) }
        }
    }

    /// Returns the time in an id, in milliseconds since 1970; nil if the text is no UUID.
    static func milliseconds(of id: String) -> Int64? {
        isUUID(id) ? Int64(id.filter { $0 != "-" }.prefix(12), radix: 16) : nil
    }

    /// Returns true if the text is a UUID in its usual form, as a database column of that type would require.
    static func isUUID(_ text: some StringProtocol) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [8, 4, 4, 4, 12] else { return false }
        return text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    /// Returns a UUID with 48 bits of time, the version, 12 bits, the variant and 62 bits.
    ///
    /// The tail's 64 bits are spread over the last 74, in their order, with four and six zero bits in between.
    static func uuid(milliseconds: Int64, tail: UInt64) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(UInt64(max(0, milliseconds)) >> 16, digits: 8, to: &text)
        text.append(UInt8(ascii: "-"))
        append(UInt64(max(0, milliseconds)), digits: 4, to: &text)
        text.append(UInt8(ascii: "-"))
        append(0x7000 | tail >> 56, digits: 4, to: &text)
        text.append(UInt8(ascii: "-"))
        append(0x8000 | tail >> 42 & 0x3FFF, digits: 4, to: &text)
        text.append(UInt8(ascii: "-"))
        append(tail & 0x3FF_FFFF_FFFF, digits: 12, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ value: UInt64, digits: Int, to text: inout [UInt8]) {
        for index in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> (UInt64(index) * 4)) & 15
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
