// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Limits the memory and disk space of all pulls' answers until they are sent or dropped (`[spool] memory_total` and
/// `disk_total`), with a fair share for each principal.
final class SpoolBudget: Sendable {
    /// The bytes that are held.
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
    /// The part of the memory that is not available to lines: lines can go to a file, the buffers for sending cannot.
    private let reserve: Int
    private let shares: NIOLockedValueBox<Shares>
    /// Drops a cached answer, of one principal or of any; returns false if there is none.
    private let relief: @Sendable (Principal?) -> Bool

    /// Creates a budget of this many bytes; `relief` must give back at once what the dropped answers hold.
    init(memory: Int, disk: Int, relief: @escaping @Sendable (Principal?) -> Bool) {
        shares = NIOLockedValueBox(Shares(memory: FairShares(total: memory), disk: FairShares(total: disk)))
        diskOfOne = FairShares<Principal>(total: disk).mostOfOne
        reserve = memory / 4
        self.relief = relief
    }

    /// The bytes that all answers hold.
    var held: Held { shares.withLockedValue { Held(memory: $0.memory.taken, disk: $0.disk.taken) } }

    /// Creates a lease that holds nothing yet.
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

    /// Repeats an attempt until it succeeds or nothing is left to drop.
    ///
    /// Cached answers are dropped: the principal's own first, those of others only if there is too little room for
    /// anybody. The attempt returns the free bytes, or nil if it has succeeded.
    private func take(_ count: Int, for principal: Principal, _ attempt: (inout Shares) -> Int?) -> Bool {
        while let free = shares.withLockedValue({ attempt(&$0) }) {
            // Dropped answers give their bytes back to this budget, so this does not run under its lock.
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

/// One holder's part of a ``SpoolBudget``, given back with the last reference to it.
final class SpoolLease: Sendable {
    private let budget: SpoolBudget
    private let principal: Principal
    private let box = NIOLockedValueBox(SpoolBudget.Held())

    fileprivate init(_ budget: SpoolBudget, _ principal: Principal) {
        self.budget = budget
        self.principal = principal
    }

    deinit { budget.giveBack(held, of: principal) }

    /// The bytes that the lease holds.
    var held: SpoolBudget.Held { box.withLockedValue { $0 } }
    /// The most bytes on disk that the lease can ever hold.
    var mostOnDisk: Int { budget.diskOfOne }

    /// Takes memory for lines.
    ///
    /// Nothing is dropped for it, because lines can go to a file instead.
    func takeForLines(_ count: Int) -> Bool {
        guard budget.takeForLines(count, principal) else { return false }
        box.withLockedValue { $0.memory += count }
        return true
    }

    /// Takes memory for data that cannot go to a file.
    func takeMemory(_ count: Int) -> Bool {
        guard budget.takeMemory(count, principal) else { return false }
        box.withLockedValue { $0.memory += count }
        return true
    }

    /// Takes disk space.
    func takeDisk(_ count: Int) -> Bool {
        guard budget.takeDisk(count, principal) else { return false }
        box.withLockedValue { $0.disk += count }
        return true
    }

    /// Gives back some of what the lease holds.
    func giveBack(memory: Int = 0, disk: Int = 0) {
        box.withLockedValue {
            $0.memory -= memory
            $0.disk -= disk
        }
        budget.giveBack(SpoolBudget.Held(memory: memory, disk: disk), of: principal)
    }

    /// Gives back what exceeds these amounts.
    ///
    /// Nothing may be taken meanwhile that is not among them.
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
