// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension Configuration {
    /// Returns this configuration as a running gateway can apply it, when it has been loaded for a reload.
    ///
    /// - Parameter running: The configuration that the gateway runs with.
    /// - Returns: The configuration in which each key that needs a restart has its running value, and the names of
    ///   those that were changed, such as `gateway.listen`.
    package func applicable(
        while running: Configuration
    ) -> (configuration: Configuration, needingRestart: [String]) {
        var configuration = self
        let changed = KeyTable.keys.filter { $0.keep?(running, &configuration) ?? false }
        return (configuration, changed.map { "\($0.section).\($0.name)" })
    }
}
