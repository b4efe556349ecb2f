// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A date whose spelling has nothing but digits, as host systems write them: `20250101`, `20250101100000`.
///
/// As numbers of milliseconds they would lie in the first hours of 1970 or far in the future.
struct DateOfDigits {
    /// The date; nil for digits that may as well be a count: `2025`, and `202501011000`, which is a day in 1976.
    let moment: Moment?

    /// Reads digits; nil if they can only be a count.
    init?(_ text: UnsafeRawBufferPointer) {
        guard [4, 8, 12, 14].contains(text.count) else { return nil }
        var number: Int64 = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        let (date, time): (Int64, Int64)
        switch text.count {
        case 4: (date, time) = (number * 10_000 + 101, 0)
        case 8: (date, time) = (number, 0)
        case 12: (date, time) = (number / 10_000, number % 10_000 * 100)
        default: (date, time) = (number / 1_000_000, number % 1_000_000)
        }
        let (year, hour, minute, second) = (date / 10_000, time / 10_000, time / 100 % 100, time % 100)
        guard year >= 1_900, let day = ISOTimestamp.dayNumber(ofYear: year, date / 100 % 100, date % 100), hour <= 23,
            minute <= 59, second <= 59
        else { return nil }
        let milliseconds = day * 86_400_000 + ((hour * 60 + minute) * 60 + second) * 1_000
        switch text.count {
        case 8: moment = Moment(milliseconds, isZoned: false, isDate: true)
        case 14: moment = Moment(milliseconds, isZoned: false)
        default: moment = nil
        }
    }
}
