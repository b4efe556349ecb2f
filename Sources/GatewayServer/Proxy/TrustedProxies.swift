// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import GatewayConfig

/// The proxies whose word about a client is believed.
package struct TrustedProxies: Hashable, Sendable {
    /// The proxies on this machine.
    package static let thisMachine = TrustedProxies(AddressRange.thisMachine)

    private let ranges: [AddressRange]

    /// Creates proxies with these addresses.
    package init(_ ranges: [AddressRange]) { self.ranges = ranges }

    /// Returns true if a proxy has the address.
    func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Finds the address of a client: the last one of the list that is no proxy's, or the first of all if each is.
    ///
    /// It is nil if the last one is no address.
    ///
    /// What is left of a client's address may be made up by that client.
    ///
    /// - Parameter chain: The addresses that proxies state, from the client's to that of the last proxy but one.
    /// - Returns: The client's address.
    func client(of chain: String) -> String? {
        var client: String?
        for item in chain.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).reversed() {
            let text = Self.withoutPort(Substring(item).trimmedSpaces[...])
            guard let address = IPAddress(text) else { return client }
            client = String(text)
            if !contains(address) { return client }
        }
        return client
    }

    /// Returns an address without the port that some proxies add: `192.0.2.7:4711`, `[2001:db8::7]:4711`.
    static func withoutPort(_ text: Substring) -> Substring {
        if text.first == "[", let end = text.firstIndex(of: "]") { return text[..<end].dropFirst() }
        guard let colon = text.firstIndex(of: ":"), text[..<colon].contains(".") else { return text }
        return text[..<colon]
    }
}
