// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import NIOConcurrencyHelpers
import SyncModel

/// Who a request comes from, and what is sent on in their name.
struct CallerIdentity: Sendable {
    let principal: Principal
    let session: Session
    /// A digest of the whole credential: what the backend accepts, and what cached answers hang on.
    let credential: String
    /// Never stored and never logged.
    let forwarded: ForwardedCredentials
    /// What the backend has said while this request runs.
    let admission = Admission()
}

/// What the backend has said of a credential while one request runs; what it said before is the resolver's to know.
final class Admission: Sendable {
    private struct State {
        var isAccepted = false
        var isNamed = false
    }

    private let state = NIOLockedValueBox(State())

    /// Whether it has accepted the credential.
    var isAccepted: Bool { state.withLockedValue { $0.isAccepted } }
    /// Whether it has said who the caller is.
    var isNamed: Bool { state.withLockedValue { $0.isNamed } }

    /// Notes that it has accepted the credential.
    func accept() { state.withLockedValue { $0.isAccepted = true } }

    /// Notes that it has said who the caller is, and so has accepted the credential.
    func name() { state.withLockedValue { $0 = State(isAccepted: true, isNamed: true) } }
}
