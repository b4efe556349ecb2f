// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides every step of a sync and does none of them: actions out, events in.
///
/// Whoever drives it does one action, reports what happened, and gets the next, until one that is an end.
package protocol SyncMachine {
    /// A step to perform, or the end.
    associatedtype Action
    /// The outcome of the last action.
    associatedtype Event

    /// Returns the first action.
    mutating func begin() -> Action

    /// Takes what happened and says what to do next; what cannot be at that point is a failure, never a trap.
    mutating func handle(_ event: Event) -> Action
}
