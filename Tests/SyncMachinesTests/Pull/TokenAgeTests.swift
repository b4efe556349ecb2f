// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncMachines

/// Tokens are opaque, but some show that they have gone back.
@Suite struct TokenAgeTests {
    @Test(arguments: [
        ("SyncCompleteV1|99", "SyncCompleteV1|100"), ("0099", "100"), ("C|a1b2|6", "C|a1b2|7"), ("C|7|x", "C|12|x"),
        ("C|019a0000-0000-7000-8000-000000000000", "C|019a0010-0000-7fff-8000-000000000000"),
        ("C|2026-11-27T08:00:00Z", "C|2026-11-27T08:05:01Z"),
        ("C|2026-11-27T08:00:00Z", "C|2026-11-27T09:30:00.000+01:00"),
        ("1764230000", "1764230301"), ("1764230000000", "1764230300001"), ("1764230000000000", "1764230300001000"),
    ])
    func `a counter, a UUID or a time that is behind is older`(token: String, other: String) {
        #expect(TokenAge.isOlder(token, than: other))
        #expect(!TokenAge.isOlder(other, than: token))
        #expect(!TokenAge.isOlder(token, than: token))
    }

    @Test(arguments: [
        // Clocks of several machines, and those that are set.
        ("C|2026-11-27T08:00:00Z", "C|2026-11-27T08:04:59Z"), ("1764230000", "1764230299"),
        ("C|019a0000-0000-7000-8000-000000000000", "C|019a0000-0001-7000-8000-000000000000"),
        // Another epoch, another shape, no order.
        ("C|a|5", "C|b|7"), ("C|5", "C|x|7"), ("C|5", "C|7|8"), ("5|5", "6|6"), ("aaa", "bbb"), ("", "1"), ("", ""),
        ("C|0f8fad5b-d9cb-469f-a165-70867728950e", "C|7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ("C|99999999999999999998", "C|99999999999999999999"), ("-5", "5"), ("5.0", "6.0"), ("٣", "٤"), ("0x5", "0x6"),
    ])
    func `anything else tells nothing`(token: String, other: String) {
        #expect(!TokenAge.isOlder(token, than: other))
    }

    @Test(arguments: [
        ("C|99", "C|1000000099"), ("C|00099|x", "C|1000000099|x"), ("C|a|0000000000099", "C|a|0001000000099"),
        ("C|7|12", "C|7|1000000012"), ("1764230000", "2764230000"), ("1764230000000", "2352306666666"),
        ("C|019a0000-0000-7000-8000-00000000000c", "C|022cd9d7-7000-7000-8000-00000000000c"),
        ("C|2026-11-27T08:00:00Z", "C|2046-11-27T08:00:00Z"), ("C|12|gone", "C|1000000012|gone"),
    ])
    func `a token far ahead has the same shape`(token: String, ahead: String) {
        #expect(TokenAge.ahead(of: token) == ahead)
        #expect(TokenAge.isOlder(token, than: ahead))
    }

    @Test(arguments: ["", "C|abc", "C|0f8fad5b-d9cb-469f-a165-70867728950e", "C|9223372036854775807", "C|-5"])
    func `no token is ahead where nothing counts`(token: String) {
        #expect(TokenAge.ahead(of: token) == nil)
    }
}
