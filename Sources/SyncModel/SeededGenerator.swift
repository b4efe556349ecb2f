// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Makes random numbers (SplitMix64) that are the same for a seed on every machine.
package struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    /// The seed of a generator that gives the same numbers as this one from here on.
    package private(set) var seed: UInt64

    /// Creates the generator of this seed; neighbouring seeds give unrelated numbers.
    package init(seed: UInt64) { self.seed = seed }

    /// Returns the next 64 bits.
    package mutating func next() -> UInt64 {
        seed &+= 0x9e37_79b9_7f4a_7c15
        var mixed = seed
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns another generator, whose numbers are unrelated to the next ones of this one.
    package mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }
}
