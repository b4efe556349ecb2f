// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The six kinds of JSON values.
package enum JSONKind: CaseIterable, Sendable {
    case null, boolean, number, string, array, object
}
