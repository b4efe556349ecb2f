// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import SyncModel

/// Holds what all copies of a ``BackendClient`` share, so that a copy with another logger counts one reference.
final class BackendParts: Sendable {
    let settings: BackendSettings
    let transport: any HTTPTransport
    let clock: any WallClock
    let breaker: BackendBreaker?

    init(
        _ settings: BackendSettings, _ transport: any HTTPTransport, clock: any WallClock, breaker: BackendBreaker?
    ) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        self.breaker = breaker
    }
}
