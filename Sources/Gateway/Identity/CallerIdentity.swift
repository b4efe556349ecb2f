// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import NIOConcurrencyHelpers
import SyncModel

/// Identifies the sender of a request, and holds what is forwarded for them.
struct CallerIdentity: Sendable {
    let principal: Principal
    let session: Session
    /// A digest of the whole credential, by which acceptance is remembered and answers are cached.
    let credential: String
    /// The forwarded fields; never stored and never logged.
    let forwarded: ForwardedCredentials
    /// The backend's verdicts while this request runs.
    let admission = Admission()
}

/// Holds the backend's verdicts on a credential during one request; the resolver remembers earlier ones.
final class Admission: Sendable {
    private struct State {
        var isAccepted = false
        var isNamed = false
    }

    private let state = NIOLockedValueBox(State())

    /// True if the backend has accepted the credential.
    var isAccepted: Bool { state.withLockedValue { $0.isAccepted } }
    /// True if the backend has named the caller.
    var isNamed: Bool { state.withLockedValue { $0.isNamed } }

    /// Notes that the backend has accepted the credential.
    func accept() { state.withLockedValue { $0.isAccepted = true } }

    /// Notes that the backend has named the caller, and has thus accepted the credential.
    func name() { state.withLockedValue { $0 = State(isAccepted: true, isNamed: true) } }
}
