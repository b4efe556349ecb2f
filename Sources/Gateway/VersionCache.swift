// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Caches what depends on the client's schema version alone, and is expensive to make.
final class VersionCache<Value: Sendable>: Sendable {
    private let make: @Sendable (Int) -> Value
    private let made = NIOLockedValueBox<[Int: Value]>([:])

    /// Creates a cache of what `make` returns for a version.
    init(_ make: @escaping @Sendable (_ schemaVersion: Int) -> Value) { self.make = make }

    /// Returns the value for clients of a version that changes something (`Schema.versions`).
    func value(at schemaVersion: Int) -> Value {
        made.withLockedValue { made in
            if let value = made[schemaVersion] { return value }
            let value = make(schemaVersion)
            made[schemaVersion] = value
            return value
        }
    }
}
