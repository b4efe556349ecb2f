// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A change of a replica that is stored with the next commit of its head, news within about a second, a contact within
/// ten minutes: if it is lost, the device brings it again with its next sync.
///
/// It is kept as what has happened, not as bytes, and is made again on the newest head.
package enum DeferredChange: Hashable, Sendable {
    /// A cursor came back that is not the first one of its replica.
    ///
    /// The first one decides whether the replica counts among those that never came back, so that it must not be lost.
    case confirmed(Cursor, at: Instant)
    /// The device was in contact.
    case contact(at: Instant)

    /// False for a contact, which only operators look at.
    package var isNews: Bool { if case .contact = self { false } else { true } }

    /// The time of the change.
    package var time: Instant {
        switch self {
        case .confirmed(_, let time), .contact(let time): time
        }
    }
}

extension Account {
    /// Changes a replica now, for this rule and later ones; it is stored later, unless this rule stores the head
    /// anyway.
    mutating func `defer`(_ change: DeferredChange, of id: ReplicaID) throws {
        guard var replica = try replica(id) else { return }
        replica.make(change)
        guard setting.canDefer else { return try put(replica) }
        keepChanged(replica, by: change)
    }
}
