// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The reason why a pull failed; the raw value is the stable code in answers, log and documentation.
package enum PullFailure: String, Error, CaseIterable, Sendable {
    /// The configuration refuses cursors that Rind does not know.
    case unknownCursor = "pull.unknown_cursor"
    /// The stream broke more often than `[backend] resume_attempts` allows.
    case streamBroken = "backend.stream_broken"
    /// A second reset came while the first was being served.
    case resetAgain = "backend.reset_again"
    /// The backend takes none of the checkpoints that it has made itself.
    case tokensRefused = "backend.tokens_refused"
    /// The backend's checkpoints were moved while it streamed, perhaps by a gateway that had lost its lease (finding 7).
    case positionMoved = "backend.position_moved"
    /// The backend takes none of the request types, or says of no single one that it does not.
    case typesRefused = "backend.types"
    /// The clock is behind the newest cursor in the state (finding 10).
    case clockBehind = "pull.clock_behind"
    /// Other pulls of the same principal took every cursor that was tried.
    case cursorContention = "pull.cursor_contention"
    /// The backend has given ids to pushed records during every attempt.
    case idsChanged = "state.ids_changed"
    /// The backend did not stop giving ids to pushed records in time.
    case idsUnknown = "limit.queue_wait"
    /// An event came that cannot come at that point: a defect of Rind, which the log names.
    case unexpectedEvent = "internal.unexpected_event"
}
