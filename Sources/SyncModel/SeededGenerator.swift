// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Makes random numbers (SplitMix64) that are the same for a seed on every machine.
package struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    /// Creates the generator of this seed; neighbouring seeds give unrelated numbers.
    package init(seed: UInt64) { state = seed }

    /// Returns the next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns another generator, whose numbers are unrelated to the next ones of this one.
    package mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }
}
