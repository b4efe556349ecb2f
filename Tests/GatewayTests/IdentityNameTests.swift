// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import JSONBytes
import Testing

/// Which JSON values name a user or a session.
@Suite struct IdentityNameTests {
    @Test(arguments: [
        (#""ada""#, "ada"), (#""\u00e9 x""#, "é x"), (#""17""#, "17"), ("17", "17"), ("0", "0"), ("-4", "-4"),
        ("9223372036854775808", "9223372036854775808"), (#""1.5""#, "1.5"),
    ])
    func `a text is a name, and an integer in its digits`(_ json: String, _ name: String) throws {
        #expect(IdentityName.of(try JSONValue.parse(json)) == name)
    }

    @Test(arguments: [
        "1.5", "17.0", "1e400", "1e2", "1E2", "-0.0", "null", "true", #""""#, "[17]", #"{"id":17}"#, #""a\u0000b""#,
        #""a\ud800""#, "1" + String(repeating: "0", count: 255), "\"\(String(repeating: "a", count: 256))\"",
    ])
    func `no other value is a name, and none is cut or rounded`(_ json: String) throws {
        #expect(IdentityName.of(try JSONValue.parse(json)) == nil)
    }
}
