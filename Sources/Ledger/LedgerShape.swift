// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The parts of a table's entries besides id and hash; every chunk contains it.
///
/// Entries that were written under another shape are read without links and feeds: their positions have another meaning
/// now. So a changed configuration never misreads, and a comparison of the whole table puts them right (finding 25).
package struct LedgerShape: Hashable, Sendable {
    /// The number of link digests in an entry, at most 255.
    package let links: Int
    /// The number of bytes of the mask of feeds: none if the table has one feed.
    package let maskBytes: Int
    /// Tells apart shapes of equal widths, such as one whose link column has been replaced; a digest of the names.
    package let tag: UInt32

    /// Creates the shape for a table with this many links and feeds (at most 255 and 64).
    package init(links: Int, feeds: Int, tag: UInt32 = 0) {
        precondition(
            (0...255).contains(links) && (0...64).contains(feeds), "a table has 255 links and 64 feeds at most")
        self.links = links
        maskBytes = feeds > 1 ? (feeds + 7) / 8 : 0
        self.tag = tag
    }

    /// Creates the shape of a chunk's header; nil if no table can have it.
    init?(links: UInt8, maskBytes: UInt8, tag: UInt32) {
        guard maskBytes <= 8 else { return nil }
        self.links = Int(links)
        self.maskBytes = Int(maskBytes)
        self.tag = tag
    }

    /// The bytes that every entry ends with, other than one of state *unknown*.
    var tailBytes: Int { links * 8 + maskBytes }
}
