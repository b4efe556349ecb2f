// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Says what a pushed operation does to its record.
package enum OperationKind: String, CaseIterable, Sendable {
    case create, update, delete
}
