// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension Configuration {
    /// Returns this configuration as a running gateway can apply it, when it has been loaded for a reload.
    ///
    /// - Parameter running: The configuration that the gateway runs with.
    /// - Returns: The configuration in which each key that needs a restart has its running value; the names of those
    ///   that were changed, such as `gateway.listen`; and the reason why it cannot be applied, nil if it can.
    package func applicable(
        while running: Configuration
    ) -> (configuration: Configuration, needingRestart: [String], obstacle: String?) {
        var configuration = self
        let changed = KeyTable.keys.filter { $0.keep?(running, &configuration) ?? false }
        // Bodies must fit into the memory for pushes that the gateway still has.
        configuration.limits.inflatedBody = min(configuration.limits.inflatedBody, configuration.limits.pushMemory)
        configuration.limits.body = min(configuration.limits.body, configuration.limits.inflatedBody)
        let isNamingByTCP =
            identity.proxyField != nil && gateway.listen.path != nil && running.gateway.listen.path == nil
        // With a Unix socket the loader demands no list, so all programs of this machine could name callers.
        let obstacle =
            isNamingByTCP && gateway.trustedProxies == AddressRange.thisMachine
            ? "gateway.listen stays a TCP port until a restart, and gateway.trusted_proxies does not say which proxies may "
                + "name callers there" : nil
        return (configuration, changed.map { "\($0.section).\($0.name)" }, obstacle)
    }
}
