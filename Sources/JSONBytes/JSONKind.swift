// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The six kinds of JSON values.
package enum JSONKind: CaseIterable, Sendable {
    case null, boolean, number, string, array, object

    /// Returns whether both are the same; written out, so that other modules compare without a call.
    @inlinable @inline(__always)
    package static func == (left: JSONKind, right: JSONKind) -> Bool {
        switch (left, right) {
        case (.null, .null), (.boolean, .boolean), (.number, .number), (.string, .string), (.array, .array),
            (.object, .object):
            true
        default: false
        }
    }
}
