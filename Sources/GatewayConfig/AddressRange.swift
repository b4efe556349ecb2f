// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An IP address; an IPv4 address is the same as its form in IPv6, `::ffff:a.b.c.d`.
package struct IPAddress: Hashable, Sendable {
    fileprivate let high: UInt64
    fileprivate let low: UInt64
    private static let mapped: UInt64 = 0xFFFF_0000_0000

    private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// The part of the address that its owner cannot choose: all of an IPv4 address, the first 64 bits of another.
    package var network: IPAddress {
        high == 0 && low >> 32 == Self.mapped >> 32 ? self : IPAddress(high: high, low: 0)
    }

    /// Reads an address without brackets and port, without its zone, such as `%eth0`; nil for other text.
    package init?(_ text: some StringProtocol) {
        let text = String(text.prefix { $0 != "%" })
        guard (2...45).contains(text.utf8.count) else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            (high, low) = (0, Self.mapped | UInt64(UInt32(bigEndian: four.s_addr)))
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        (high, low) = withUnsafeBytes(of: six) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

/// The addresses that begin with the same bits, in the notation of CIDR.
package struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    private let first: IPAddress
    /// The number of bits that count, 0 … 128.
    private let bits: Int
    /// The range as it was written.
    package let description: String

    /// Reads an address, or an address, a slash and a number of bits.
    ///
    /// It is nil for other text, and for a range whose address has bits behind those that count.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = IPAddress(parts[0]), !text.contains("%") else { return nil }
        let most = parts[0].contains(":") ? 128 : 32
        var bits = most
        if parts.count == 2 {
            guard (1...3).contains(parts[1].count), parts[1].allSatisfy({ $0.isASCII && $0.isNumber }),
                let number = Int(parts[1]), number <= most
            else { return nil }
            bits = number
        }
        first = address
        self.bits = bits + 128 - most
        description = text
        guard contains(address), Self.masked(address, self.bits) == (address.high, address.low) else { return nil }
    }

    /// Returns true if the address is in the range.
    package func contains(_ address: IPAddress) -> Bool {
        Self.masked(address, bits) == Self.masked(first, bits)
    }

    private static func masked(_ address: IPAddress, _ bits: Int) -> (UInt64, UInt64) {
        // A shift by 64 or more gives zero.
        (address.high & ~(UInt64.max >> min(bits, 64)), address.low & ~(UInt64.max >> max(0, bits - 64)))
    }

    /// The addresses of this machine itself.
    package static let thisMachine = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
}
