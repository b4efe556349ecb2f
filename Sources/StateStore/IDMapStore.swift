// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the state keeps of the ids that backends give to records which clients have made.
///
/// Mappings are a principal's own: clients choose their ids, and with one map for all a push of one could decide what
/// the records of another are called. None is ever deleted. Methods throw ``StateError``, and then nothing has changed.
package protocol IDMapStore: Sendable {
    /// The mappings of a principal that came after a sequence, in the order of theirs, at most `limit`.
    ///
    /// A record that was made once more has a new sequence, and the mapping before it is gone.
    func idMappings(of principal: Principal, after sequence: Int64, limit: Int) async throws -> [StoredIDMapping]

    /// Writes mappings down; ones that are known already change nothing.
    ///
    /// - Returns: Those whose client id pulls do not say: another one came first for the same record, or it may have
    ///   been the backend's.
    /// - Throws: ``StateError/invalid(_:)`` for ids that are empty or longer than 255 bytes.
    func saveMappings(_ mappings: [IDMapping], principal: Principal, at now: Int64) async throws -> [IDMapping]

    /// All that is known under an id, be it the client's or the backend's; at most 100.
    func idMappings(of principal: Principal, table: String, id: String) async throws -> [StoredIDMapping]

    /// Those of a client's ids that it has pushed at some time, and to which no id of the backend is known yet.
    func unmappedPushes(_ ids: [IDMapping], of principal: Principal) async throws -> [IDMapping]
}

/// A mapping with its place.
package struct StoredIDMapping: Hashable, Sendable {
    /// The mapping.
    package var mapping: IDMapping
    /// Whether pulls say the client's id; of several for one record the first.
    package var isPublic: Bool
    /// By how many mappings of the principal it was preceded, and 1.
    package var sequence: Int64
    /// A stored mapping.
    package init(mapping: IDMapping, isPublic: Bool, sequence: Int64) {
        self.mapping = mapping
        self.isPublic = isPublic
        self.sequence = sequence
    }
}
