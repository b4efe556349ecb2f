// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides when memory that is free, but that the allocator still holds, is worth giving back to the system.
///
/// Giving back walks over all that is free, so it is for what a peak has left, not for what comes and goes.
struct MemoryTrim: Hashable, Sendable {
    /// How much more than usual must lie idle, in bytes.
    static let threshold = 64 << 20

    /// The least that lay idle since the last time: code, and what lies between pieces in use.
    private var usual: Int?

    /// Takes what the process has and what of it is in use, in bytes; whether to give back now.
    mutating func isDue(resident: Int, inUse: Int) -> Bool {
        let idle = resident - inUse
        let usual = min(usual ?? idle, idle)
        self.usual = usual
        return idle - usual > Self.threshold
    }

    /// Takes the same after giving back: what is idle still cannot be given back, and is not tried again.
    mutating func done(resident: Int, inUse: Int) { usual = resident - inUse }
}
