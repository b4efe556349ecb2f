// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A change of a replica that is stored with the next commit of its head, or within about a minute: if it is lost, the
/// device brings it again with its next sync.
///
/// It is kept as what has happened, not as bytes, and is made again on the newest head.
package enum DeferredChange: Hashable, Sendable {
    /// A cursor came back that is not the first one of its replica.
    ///
    /// The first one decides whether the replica counts among those that never came back, so that it must not be lost.
    case confirmed(Cursor, at: Instant)
    /// The device was in contact.
    case contact(at: Instant)
}

extension ReplicaHead {
    /// Makes a change; one that is old news does nothing.
    mutating func make(_ change: DeferredChange) {
        switch change {
        case .contact(let now): lastSeen = max(lastSeen, now)
        case .confirmed(let cursor, let now):
            lastSeen = max(lastSeen, now)
            guard let index = newsIndex(of: cursor) else { return }
            cursors[index].isConfirmed = true
            (isConfirmed, tip) = (true, cursor)
        }
    }

    /// Returns the replica with changes made.
    package func making(_ changes: [DeferredChange]) -> Self {
        var replica = self
        for change in changes { replica.make(change) }
        return replica
    }

    /// Returns the index of a cursor whose coming back is news; an older cursor never is.
    func newsIndex(of cursor: Cursor) -> Int? {
        index(of: cursor).flatMap { index in
            !cursors[index].isConfirmed && (tip == nil || cursors[index].parent == tip) ? index : nil
        }
    }
}

extension Account {
    /// Changes a replica now, for this rule and later ones; it is stored later, unless this rule stores the head anyway.
    mutating func `defer`(_ change: DeferredChange, of id: ReplicaID) throws {
        guard var replica = try replica(id) else { return }
        replica.make(change)
        guard setting.canDefer else { return try put(replica) }
        keepChanged(replica, by: change)
    }

    /// Stores what was deferred of a replica.
    package mutating func storeDeferred(of id: ReplicaID) throws {
        guard try replica(id) != nil else { return }
        storeWhole(id)
        needNotBeDurable()
    }
}
