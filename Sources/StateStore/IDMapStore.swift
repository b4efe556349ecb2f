// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Stores the ids that backends give to records that clients have created.
///
/// Each principal has mappings of its own: clients choose their ids, so with one map for all, a push of one principal
/// could decide the ids of another's records. No mapping is ever deleted. If a method throws ``StateError``, nothing
/// has changed.
package protocol IDMapStore: Sendable {
    /// Returns the mappings of a principal that came after a sequence, in the order of their sequences, at most
    /// `limit`.
    ///
    /// If a record was created again, its new mapping has a new sequence and replaces the earlier one.
    func idMappings(of principal: Principal, after sequence: Int64, limit: Int) async throws -> [StoredIDMapping]

    /// Writes mappings; known ones change nothing.
    ///
    /// - Returns: The mappings whose client id pulls do not use: another id came first for the same record, or this one
    ///   may have been the backend's.
    /// - Throws: ``StateError/invalid(_:)`` for ids that are empty or longer than 255 bytes.
    func saveMappings(_ mappings: [IDMapping], principal: Principal, at now: Instant) async throws -> [IDMapping]

    /// Returns the mappings that contain an id, as the client's or as the backend's; at most 100.
    func idMappings(of principal: Principal, table: String, id: String) async throws -> [StoredIDMapping]

    /// Returns those of a client's ids that it has pushed before and that have no known id of the backend yet.
    func unmappedPushes(_ ids: [IDMapping], of principal: Principal) async throws -> [IDMapping]
}

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
