// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides when memory that is free, but that the allocator still holds, is worth giving back to the system.
///
/// Giving back walks all free memory, so it is for the remains of a peak, not for ordinary variation.
struct MemoryTrim: Hashable, Sendable {
    /// The number of bytes above the usual that must be idle.
    static let threshold = 64 << 20

    /// The fewest idle bytes since memory was last given back: code, and gaps between pieces in use.
    private var usual: Int?

    /// Takes the resident bytes and those in use; returns true if memory is to be given back now.
    mutating func isDue(resident: Int, inUse: Int) -> Bool {
        let idle = resident - inUse
        let usual = min(usual ?? idle, idle)
        self.usual = usual
        return idle - usual > Self.threshold
    }

    /// Takes the same figures after giving back: the bytes that are still idle cannot be given back, and count as
    /// usual.
    mutating func done(resident: Int, inUse: Int) { usual = resident - inUse }
}
