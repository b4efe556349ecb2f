// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Says what becomes of a push at the backend; where there is a call for each operation, of the last one.
package enum WorldPushOutcome: String, CaseIterable, Hashable, Sendable {
    /// The backend takes it.
    case answered
    /// The client never hears that it went well.
    case answerLost
    /// The backend wants none of it.
    case refused
    /// The backend takes it, and the gateway does not hear of it.
    case doubtful
    /// The backend does not take it, and the gateway does not know.
    case lost
    /// The backend takes it later, when the gateway has given up.
    case late
}
