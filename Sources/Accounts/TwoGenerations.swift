// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Keeps values up to a weight: once half of it was used since the last time, the other half is dropped.
struct TwoGenerations<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Kept = (value: Value, weight: Int)

    /// The values that were used since half of the room was filled, and those that were used before.
    private var (young, old): ([Key: Kept], [Key: Kept]) = ([:], [:])
    private var youngWeight = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Returns a value, which then counts as used.
    mutating func use(_ key: Key) -> Value? {
        if let kept = young[key] { return kept.value }
        guard let kept = old[key] else { return nil }
        keep(kept.value, weight: kept.weight, at: key)
        return kept.value
    }

    /// Keeps a value, in place of another one; one that would take much of the room is not kept.
    mutating func keep(_ value: Value, weight: Int, at key: Key) {
        drop(key)
        guard weight <= limit / 16 else { return }
        young[key] = (value, weight)
        youngWeight += weight
        guard youngWeight > limit / 2 else { return }
        (old, young, youngWeight) = (young, [:], 0)
    }

    mutating func drop(_ key: Key) {
        old[key] = nil
        if let kept = young.removeValue(forKey: key) { youngWeight -= kept.weight }
    }

    mutating func dropAll() { (young, old, youngWeight) = ([:], [:], 0) }
}
