// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import NIOCore

/// The other end of a connection.
struct Peer: Sendable {
    /// The address without its port; nil for a Unix socket, and where the system does not know it.
    let address: String?
    /// True if it is a proxy whose word about clients is believed.
    let isTrusted: Bool
    /// The proxies that are believed.
    let proxies: TrustedProxies

    /// Creates the peer of a connection; one at a Unix socket is trusted.
    init(of channel: any Channel, trusting proxies: TrustedProxies) {
        let remote = channel.remoteAddress
        self.init(
            address: remote?.ipAddress, isUnixSocket: channel.localAddress?.protocol == .unix, trusting: proxies)
    }

    private init(address: String?, isUnixSocket: Bool, trusting proxies: TrustedProxies) {
        self.address = address
        self.proxies = proxies
        isTrusted = isUnixSocket || address.flatMap { IPAddress($0) }.map(proxies.contains) ?? false
    }

    /// Returns the peer for which a proxy has passed on the connection.
    func speaking(for address: String) -> Peer { Peer(address: address, isUnixSocket: false, trusting: proxies) }
}
