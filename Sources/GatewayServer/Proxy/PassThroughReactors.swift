// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import Gateway
package import GatewayConfig

/// Carries what passes through to the backend, on connections that syncs do not use.
///
/// Tunnels have a share of them to themselves, and long uploads half of the rest: a tunnel, or an upload that never ends,
/// holds a connection as long as its client likes, and must not keep others from signing in.
package struct PassThroughReactors: Sendable {
    /// Carries requests that are complete when they are sent.
    let requests: CurlReactor
    /// Carries requests whose body is sent as it arrives.
    let uploads: CurlReactor
    /// Carries tunnels, and requests for them.
    let tunnels: CurlReactor

    /// Starts the reactors of a configuration.
    ///
    /// - Throws: ``CurlError/system(_:)`` if a reactor cannot be started.
    package static func start(_ configuration: Configuration) throws(CurlError) -> PassThroughReactors {
        PassThroughReactors(
            requests: try .start(configuration.passThroughReactorSettings),
            uploads: try .start(configuration.uploadReactorSettings),
            tunnels: try .start(configuration.tunnelReactorSettings))
    }

    /// Ends the reactors; see ``CurlReactor/shutdown()``.
    package func shutdown() async {
        await requests.shutdown()
        await uploads.shutdown()
        await tunnels.shutdown()
    }
}
