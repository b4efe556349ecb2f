// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Bounds what the answers of all pulls take together until they are sent or dropped: in memory and on disk
/// (`[spool] memory_total` and `disk_total`), with a fair share for each principal.
final class SpoolBudget: Sendable {
    /// Bytes that are held.
    struct Held: Hashable, Sendable {
        var memory = 0
        var disk = 0
    }

    private struct Shares {
        var memory: FairShares<Principal>
        var disk: FairShares<Principal>
    }

    /// The most bytes on disk that one principal can ever hold.
    let diskOfOne: Int
    /// A part of the memory that no line of an answer gets: these have a file to go to, and what sends them has none.
    private let reserve: Int
    private let shares: NIOLockedValueBox<Shares>
    /// Gives something back that is held for convenience only, of one principal or of anybody; false where there is
    /// none.
    private let relief: @Sendable (Principal?) -> Bool

    /// A budget of so many bytes; what `relief` drops must give back what it holds at once.
    init(memory: Int, disk: Int, relief: @escaping @Sendable (Principal?) -> Bool) {
        shares = NIOLockedValueBox(Shares(memory: FairShares(total: memory), disk: FairShares(total: disk)))
        diskOfOne = FairShares<Principal>(total: disk).mostOfOne
        reserve = memory / 4
        self.relief = relief
    }

    /// What is held by all.
    var held: Held { shares.withLockedValue { Held(memory: $0.memory.taken, disk: $0.disk.taken) } }

    /// A lease of nothing yet.
    func lease(for principal: Principal) -> SpoolLease { SpoolLease(self, principal) }

    fileprivate func takeForLines(_ count: Int, _ principal: Principal) -> Bool {
        shares.withLockedValue { $0.memory.take(count, for: principal, leaving: reserve) }
    }

    fileprivate func takeMemory(_ count: Int, _ principal: Principal) -> Bool {
        take(count, for: principal) { $0.memory.take(count, for: principal) ? nil : $0.memory.free }
    }

    fileprivate func takeDisk(_ count: Int, _ principal: Principal) -> Bool {
        take(count, for: principal) { $0.disk.take(count, for: principal) ? nil : $0.disk.free }
    }

    /// Tries it until it is done or nothing can give way.
    ///
    /// What is kept for repeats does, a principal's own first, and that of others only where there is too little for
    /// anybody. The attempt says what is free, and nil where it is done.
    private func take(_ count: Int, for principal: Principal, _ attempt: (inout Shares) -> Int?) -> Bool {
        while let free = shares.withLockedValue({ attempt(&$0) }) {
            // What is dropped comes back by way of this budget, so not under its lock.
            guard relief(principal) || (free < 2 * count && relief(nil)) else { return false }
        }
        return true
    }

    fileprivate func giveBack(_ held: Held, of principal: Principal) {
        shares.withLockedValue {
            $0.memory.giveBack(held.memory, of: principal)
            $0.disk.giveBack(held.disk, of: principal)
        }
    }
}

/// What one holder has of a ``SpoolBudget``; given back with the last reference to it.
///
/// Whoever holds it takes and gives back by one task at a time.
final class SpoolLease: Sendable {
    private let budget: SpoolBudget
    private let principal: Principal
    private let box = NIOLockedValueBox(SpoolBudget.Held())

    fileprivate init(_ budget: SpoolBudget, _ principal: Principal) {
        self.budget = budget
        self.principal = principal
    }

    deinit { budget.giveBack(held, of: principal) }

    /// What it has.
    var held: SpoolBudget.Held { box.withLockedValue { $0 } }
    /// The most bytes on disk that it could ever have.
    var mostOnDisk: Int { budget.diskOfOne }

    /// Takes memory for lines, which have a file to go to where there is none; nothing gives way for it.
    func takeForLines(_ count: Int) -> Bool {
        guard budget.takeForLines(count, principal) else { return false }
        box.withLockedValue { $0.memory += count }
        return true
    }

    /// Takes memory for what can be nowhere else.
    func takeMemory(_ count: Int) -> Bool {
        guard budget.takeMemory(count, principal) else { return false }
        box.withLockedValue { $0.memory += count }
        return true
    }

    /// Takes room on disk.
    func takeDisk(_ count: Int) -> Bool {
        guard budget.takeDisk(count, principal) else { return false }
        box.withLockedValue { $0.disk += count }
        return true
    }

    /// Gives back what is more than that.
    func keep(memory: Int, disk: Int) {
        let surplus = box.withLockedValue { held -> SpoolBudget.Held in
            let surplus = SpoolBudget.Held(memory: max(0, held.memory - memory), disk: max(0, held.disk - disk))
            held.memory -= surplus.memory
            held.disk -= surplus.disk
            return surplus
        }
        budget.giveBack(surplus, of: principal)
    }
}
