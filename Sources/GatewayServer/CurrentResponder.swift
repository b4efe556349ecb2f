// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// The responder that new requests get, until a reload of the configuration replaces it.
final class CurrentResponder: Sendable {
    private let box: NIOLockedValueBox<GatewayResponder>

    init(_ responder: GatewayResponder) { box = NIOLockedValueBox(responder) }

    /// The responder of a request that begins now, which serves it to its end.
    var now: GatewayResponder { box.withLockedValue { $0 } }

    /// Lets requests from now on have another responder.
    func replace(by responder: GatewayResponder) { box.withLockedValue { $0 = responder } }
}
