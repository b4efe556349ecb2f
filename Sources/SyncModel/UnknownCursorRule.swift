// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides the answer to a cursor that was never handed out, or was handed out to another caller.
package enum UnknownCursorRule: String, CaseIterable, Sendable {
    /// The client becomes a new replica: every record goes out in `updated`, and its data is not wiped.
    case adopt
    /// The answer has `experimentalStrategy: "replacement"`; only for apps that pass it on to WatermelonDB.
    case replacement
    /// The answer is a clear error.
    case refuse
}
