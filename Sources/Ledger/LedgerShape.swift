// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The parts of a table's entries besides id and hash; every chunk states it.
///
/// Entries that were written under another shape are read without links and feeds, which mean something else now. So
/// a changed configuration never misreads, and a comparison of the whole table puts the entries right (finding 25).
package struct LedgerShape: Hashable, Sendable {
    /// The number of link digests in an entry, at most 255.
    package let links: Int
    /// The number of bytes of the set of feeds: 0 if the table has one feed.
    package let feedBytes: Int
    /// A digest of the names, to tell apart shapes of equal widths, such as one whose link column has been replaced.
    package let tag: UInt32

    /// Creates the shape for a table with that many links and feeds (at most 255 and 64).
    package init(links: Int, feeds: Int, tag: UInt32 = 0) {
        precondition(
            (0...255).contains(links) && (0...64).contains(feeds), "a table has 255 links and 64 feeds at most")
        self.links = links
        feedBytes = feeds > 1 ? (feeds + 7) / 8 : 0
        self.tag = tag
    }

    /// Creates the shape that a chunk's header states; nil if no shape is like it.
    init?(links: UInt8, feedBytes: UInt8, tag: UInt32) {
        guard feedBytes <= 8 else { return nil }
        self.links = Int(links)
        self.feedBytes = Int(feedBytes)
        self.tag = tag
    }

    /// The number of bytes of links and feeds at the end of every entry, except one of state *unknown*.
    var tailBytes: Int { links * 8 + feedBytes }
}
