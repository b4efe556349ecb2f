// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What the entries of a table have besides id and hash; it stands in every chunk.
///
/// Entries that were written under another shape are read without links and sources: their places mean something else
/// now. So a changed configuration never misreads, and a comparison of the whole table puts them right (finding 25).
package struct LedgerShape: Hashable, Sendable {
    /// How many link digests an entry has, at most 255.
    package let links: Int
    /// How many bytes the mask of sources takes: none where the table has one feed.
    package let maskBytes: Int
    /// Tells apart shapes of equal widths, such as one whose link column has been replaced; a digest of the names.
    package let tag: UInt32

    /// The shape for a table with that many links and feeds (at most 255 and 64).
    package init(links: Int, feeds: Int, tag: UInt32 = 0) {
        precondition(
            (0...255).contains(links) && (0...64).contains(feeds), "a table has 255 links and 64 feeds at most")
        self.links = links
        maskBytes = feeds > 1 ? (feeds + 7) / 8 : 0
        self.tag = tag
    }

    /// The shape that a chunk's header tells; nil where there is none like it.
    init?(links: UInt8, maskBytes: UInt8, tag: UInt32) {
        guard maskBytes <= 8 else { return nil }
        self.links = Int(links)
        self.maskBytes = Int(maskBytes)
        self.tag = tag
    }

    /// The bytes that every entry ends with, other than one of state *unknown*.
    var tailBytes: Int { links * 8 + maskBytes }
}
