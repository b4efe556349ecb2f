// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What only the operator's commands ask of a state.
package protocol InspectableStore: StateStore, QuarantineAdmin {
    /// The principals whose digests begin with these hexadecimal digits, in the order of their digests.
    func principals(beginningWith digits: String, limit: Int) async throws -> [Principal]

    /// Replicas, all or one principal's, the one that was seen last first, from the one behind `after` on.
    func replicasByContact(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow]

    /// What pushes have said about one record; nil where none has, or that is forgotten.
    func pushNote(of principal: Principal, table: String, id: String) async throws -> PushNote?

    /// Which cursor each layer of a ledger is about.
    ///
    /// For a delta the cursor that added it, for an undo the one that it leads back behind, for the base the newest one
    /// that is in it; layers that are gone meanwhile are left out.
    func cursors(of outline: LedgerOutline) async throws -> [LayerID: Cursor]
}
