// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Testing

@Suite struct AddressRangeTests {
    @Test(
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true),
            ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.6", false), ("192.0.2.6/31", "192.0.2.7", true),
            ("0.0.0.0/0", "255.1.2.3", true), ("0.0.0.0/0", "::1", false), ("::/0", "::1", true),
            ("::/0", "10.0.0.1", true), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe80::1%eth0", false),
            ("2001:db8::/65", "2001:db8::7fff:0:0:1", true), ("2001:db8::/65", "2001:db8:0:0:8000::1", false),
            ("::1", "127.0.0.1", false), ("fe80::/10", "fe80::1%eth0", true),
        ])
    func `a range has the addresses that begin with its bits`(range: String, address: String, isIn: Bool) throws {
        let range = try #require(AddressRange(range))
        #expect(range.contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(arguments: ["", "a", "1.2.3", "1.2.3.4.5", "1.2.3.4 ", ":::", "1.2.3.4:80", "[::1]", "0x7f000001", "127.1"])
    func `other text is no address`(text: String) { #expect(IPAddress(text) == nil) }
}
