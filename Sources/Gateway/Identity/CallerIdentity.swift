// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import NIOConcurrencyHelpers
import SyncModel

/// Identifies the sender of a request, and holds what is forwarded for them.
struct CallerIdentity: Sendable {
    let principal: Principal
    let session: Session
    /// A digest of the whole credential and the scope, by which acceptance is remembered and answers are cached.
    let credential: String
    /// A digest of the whole credential alone, by which the backend's name for the caller is remembered.
    let bareCredential: String
    /// The forwarded fields, never stored and never logged, and the scope.
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

    /// Notes that the backend has named the caller.
    ///
    /// Thus it has accepted the credential; but who it is does not say whether they may see a scope.
    func name(in scope: SyncScope) {
        state.withLockedValue { state in
            state.isNamed = true
            if scope.isEmpty { state.isAccepted = true }
        }
    }
}
