// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// The values for the placeholders of a call.
package struct CallValues: Sendable {
    /// The values by the names of their placeholders, such as `id`, `id.1`, `base`, `acks` or a column.
    package var named: [String: JSONValue]
    /// The value of `{*}`, and the body of a call without a template: values at their paths, in order.
    package var columns: [(path: Path, value: JSONValue)]?

    /// The version of the record that the client had seen, sent as `If-Match` (RFC 9110, 13.1.1) by calls that want it;
    /// nil if unknown.
    package var seen: EntityTag?

    /// Creates values; without columns, a call that has no template has no body.
    package init(_ named: [String: JSONValue] = [:], columns: [(path: Path, value: JSONValue)]? = nil) {
        self.named = named
        self.columns = columns
    }
}
