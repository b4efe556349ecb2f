// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Draws random numbers, from the system or from a seed.
package struct Randomness: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    /// Creates a source that draws from this function.
    package init(_ draw: @escaping @Sendable () -> UInt64) { self.draw = draw }

    /// The system's random numbers, which are unpredictable.
    package static let system = Randomness {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// Returns the next number.
    package func next() -> UInt64 { draw() }
}
