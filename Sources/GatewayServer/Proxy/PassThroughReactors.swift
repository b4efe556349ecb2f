// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import Gateway
package import GatewayConfig

/// Carries what passes through to the backend, on connections that syncs do not use.
///
/// Long uploads have half of them to themselves: a client that never finishes its upload holds a connection as long as
/// it likes, and must not keep others from signing in.
package struct PassThroughReactors: Sendable {
    /// Carries requests that are complete when they are sent.
    let requests: CurlReactor
    /// Carries requests whose body is sent as it arrives.
    let uploads: CurlReactor

    /// Starts the reactors of a configuration.
    ///
    /// - Throws: ``CurlError/system(_:)`` if a reactor cannot be started.
    package static func start(_ configuration: Configuration) throws(CurlError) -> PassThroughReactors {
        PassThroughReactors(
            requests: try .start(configuration.passThroughReactorSettings),
            uploads: try .start(configuration.uploadReactorSettings))
    }

    /// Ends both reactors; see ``CurlReactor/shutdown()``.
    package func shutdown() async {
        await requests.shutdown()
        await uploads.shutdown()
    }
}
