// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension BackendError {
    /// Creates the error for a status other than 2xx.
    init(_ status: HTTPResponse.Status, _ fields: HTTPFields) {
        switch status.code {
        case 401, 403: self = .credentialRefused(status: status.code)
        case 429, 503: self = .busy(status: status.code, retryAfter: RetryAfter.duration(in: fields))
        case 400...499: self = .refused(status: status.code)
        case 500...599: self = .failed(status: status.code)
        default: self = .unexpectedStatus(status.code)
        }
    }
}

/// The field `Retry-After` (RFC 9110, 10.2.3).
enum RetryAfter {
    /// The longest wait that a header field can ask for.
    static let longest = Duration.seconds(86_400)

    /// Returns the time to wait; nil if the answer has none that is understood.
    ///
    /// A date is compared with the answer's own `Date`, so that the two clocks need not agree; without one, with this
    /// machine's. A fraction of a second, which no standard knows, counts as a whole one.
    static func duration(in fields: HTTPFields) -> Duration? {
        guard let value = fields[.retryAfter] else { return nil }
        if let first = value.utf8.first, (48...57).contains(first),
            value.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }), let seconds = Double(value)
        {
            return .seconds(min(seconds.rounded(.up), Double(longest.components.seconds)))
        }
        guard let then = seconds(ofDate: value) else { return nil }
        let now = fields[.date].flatMap(seconds(ofDate:)) ?? Int64(time(nil))
        return min(.seconds(max(0, then - now)), longest)
    }

    /// Returns the seconds since 1970 of a date like `Sun, 06 Nov 1994 08:49:37 GMT`; the obsolete forms are not
    /// understood.
    private static func seconds(ofDate text: String) -> Int64? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1970...9999).contains(year)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int64($0) }
        guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        // Days from 1 March of the year 0, so that the leap day is the last of its year.
        let shifted = month < 2 ? year - 1 : year
        let days =
            365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * Int64((month + 10) % 12) + 2) / 5 + day
            - 719_469
        return days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }
}
