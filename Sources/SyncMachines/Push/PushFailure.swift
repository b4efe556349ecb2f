// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The reason why a push could not be answered; the raw value is the stable code.
package enum PushFailure: String, Error, CaseIterable, Sendable {
    /// The backend did not say whether it has applied the push.
    case unknownOutcome = "push.unknown_outcome"
    /// The backend did not take an operation for longer than `[push] retry_budget` allows.
    case busy = "backend.busy"
    /// The backend refuses one line of a stream push after the other, more often or for longer than a push may last.
    case tooManyRefusals = "push.too_many_refusals"
    /// An event came that no action had asked for.
    case unexpectedEvent = "internal.unexpected_event"
}
