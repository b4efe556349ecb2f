// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModel

/// Formats points in time, for log lines and for reading.
enum TimeText {
    /// Returns a text such as `2026-11-21T08:37:15.123Z`.
    static func utc(_ moment: Instant) -> String {
        let milliseconds = moment.milliseconds
        let seconds = milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
        var unixTime = time_t(seconds)
        var parts = tm()
        gmtime_r(&unixTime, &parts)
        let date = "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(Int(parts.tm_mon) + 1, 2))"
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
        return "\(date)-\(digits(Int(parts.tm_mday), 2))T\(time).\(digits(Int(milliseconds - seconds * 1_000), 3))Z"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
