// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Why a push could not be answered; the raw value is the stable code.
package enum PushFailure: String, Error, CaseIterable, Sendable {
    /// The backend did not say whether it has applied the push.
    case unknownOutcome = "push.unknown_outcome"
    /// The backend did not take an operation for longer than `[push] retry_budget` allows.
    case busy = "backend.busy"
}
