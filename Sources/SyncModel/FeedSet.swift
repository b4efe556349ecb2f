// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Holds some of a table's feeds, by their indices.
///
/// Every line of a stream makes one, so the members that lines need are inlinable. A table has at most 64 feeds; the
/// configuration refuses more.
package struct FeedSet: OptionSet, Hashable, Sendable {
    /// The bit of each feed; ledgers store it.
    package let rawValue: UInt64

    /// Creates a set from its stored bits.
    @inlinable
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates the set of one feed.
    @inlinable
    package init(feed: Int) { rawValue = 1 << UInt64(min(feed, 63)) }

    /// Creates the set of the first `count` feeds.
    package init(first count: Int) { rawValue = count < 64 ? (1 << UInt64(count)) - 1 : .max }

    /// The set of all feeds that a table can have.
    @inlinable package static var all: FeedSet { FeedSet(rawValue: .max) }
}
