// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Adds what only the operator's commands need: reads, erasing, and changes of the quarantine.
package protocol InspectableStore: StateStore, QuarantineAdmin {
    /// Returns the principals whose digests begin with these hexadecimal digits, in the order of their digests.
    func principals(beginningWith digits: String, limit: Int) async throws -> [Principal]

    /// Returns replicas, all or one principal's, most recently seen first, beginning with the one that follows `after`.
    ///
    /// All of them are in the order of the hours in which they were seen, and within an hour of their numbers.
    func replicasByContact(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow]

    /// Returns the schema versions of the replicas that were seen last, and how many have each, the newest first.
    func schemaVersions(ofLast limit: Int) async throws -> [SchemaVersionCount]

    /// Deletes everything that belongs to a principal or to one of its scopes, in one transaction.
    ///
    /// A sync that runs meanwhile may fail, and one that comes later begins anew. Ledger layers of devices that were
    /// forgotten before name no principal any more, and go with the next collection.
    ///
    /// - Returns: The number of rows by the name of their kind; empty if the state does not know the principal.
    func erase(_ principal: Principal) async throws -> [String: Int]

    /// Returns the push note of one record; nil if there is none or it has been deleted.
    func pushNote(of principal: Principal, table: String, id: String) async throws -> PushNote?

    /// Returns the cursor of each layer of a ledger.
    ///
    /// The cursor of a delta is the one that added it, that of an undo layer the one that it leads back behind, and
    /// that of the base the newest one that it contains. Layers that are gone meanwhile are omitted.
    func cursors(of outline: LedgerOutline) async throws -> [LayerID: Cursor]
}

/// Counts the replicas of one schema version.
package struct SchemaVersionCount: Hashable, Sendable {
    /// The version; nil for replicas that have not shown theirs.
    package var version: Int?
    /// The number of replicas.
    package var devices: Int

    /// Creates a count.
    package init(version: Int?, devices: Int) {
        self.version = version
        self.devices = devices
    }
}
