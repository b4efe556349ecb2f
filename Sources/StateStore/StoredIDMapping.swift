// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A mapping with its sequence.
package struct StoredIDMapping: Hashable, Sendable {
    /// The mapping.
    package var mapping: IDMapping
    /// True if pulls use the client's id; among several mappings of one record this is the first.
    package var isPublic: Bool
    /// The mapping's position among the principal's mappings, counted from 1.
    package var sequence: Int64
    /// Creates a stored mapping.
    package init(mapping: IDMapping, isPublic: Bool, sequence: Int64) {
        self.mapping = mapping
        self.isPublic = isPublic
        self.sequence = sequence
    }
}
