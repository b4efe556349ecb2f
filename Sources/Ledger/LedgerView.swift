// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// One table of a ledger as a cursor sees it: through all its layers, forward only.
///
/// The view may also combine the ledgers of several devices, if only one device's can be right and it is unknown which:
/// a record that any of them holds counts as held, else one that any had deleted as deleted, by all feeds together
/// and without a hash.
///
/// ``next()`` walks through everything; ``seek(to:)`` looks one id up and reads only chunks that can hold it; both can
/// be mixed. While the view is at an entry, its properties describe the entry, without allocating.
///
/// Layers that do not change while the view is in use are read consistently. A base that is compacted meanwhile may
/// look damaged; a pull notices that by the ledger's version.
package struct LedgerView: Sendable {
    /// The client's table.
    package let table: String
    /// The shape that gives links and feeds their meaning; those of chunks of another shape are unknown.
    package let shape: LedgerShape
    /// The hash of the current entry, or of the last id that was looked up; nil before the first.
    package private(set) var position: IDHash?

    private var cursors: [LedgerLayerCursor]
    /// The index in `cursors` at which each ledger ends.
    private let ends: [Int]
    private let isUnion: Bool
    /// The combined feeds of the current entry in all ledgers that agree about its state.
    private var allFeeds: FeedSet = []
    /// True if any of these ledgers says that the record went out with a default in place of a value.
    private var isAnyDefaulted = false
    /// The index of the cursor at the current entry; -1 if there is none.
    private var winner = -1
    /// True if every other cursor is behind the position; the next of them is at `bound`.
    private var isLeading = false
    private var bound: IDHash?

    /// Creates a view before the first entry.
    ///
    /// - Parameters:
    ///   - source: The source of chunks that are not preloaded.
    ///   - layers: The layers in lookup order, as ``LedgerOutline/layers`` has them.
    ///   - preloaded: All chunks of those layers that are small, in their order, of this and other tables.
    ///   - table: The client's table.
    ///   - shape: The present shape of the table's entries.
    ///   - key: The deployment's key of id hashes.
    ///   - readAhead: The number of chunks that a walk reads at once, at most; a walk begins with fewer.
    ///   - skipsDamage: True if unreadable chunks count as absent; otherwise they are errors.
    /// - Throws: ``LedgerError/damaged`` if preloaded chunks are not in their order.
    package init(
        source: any LedgerSource, layers: [LedgerLayer], preloaded: PreloadedChunks = PreloadedChunks(), table: String,
        shape: LedgerShape, key: SipHash.Key, readAhead: Int = 128, skipsDamage: Bool = false
    ) throws(LedgerError) {
        try self.init(
            source: source, ledgers: [layers], isUnion: false, preloaded: preloaded, table: table, shape: shape,
            key: key, readAhead: readAhead, skipsDamage: skipsDamage)
    }

    /// Creates a view of one or several ledgers before the first entry; the other parameters are as for one.
    ///
    /// `ledgers` has the layers of each ledger in lookup order: of any number of devices if `isUnion` is true, else of
    /// one.
    package init(
        source: any LedgerSource, ledgers: [[LedgerLayer]], isUnion: Bool,
        preloaded: PreloadedChunks = PreloadedChunks(),
        table: String, shape: LedgerShape, key: SipHash.Key, readAhead: Int = 128, skipsDamage: Bool = false
    ) throws(LedgerError) {
        precondition(isUnion || ledgers.count <= 1, "the ledger of a cursor is one")
        self.table = table
        self.shape = shape
        self.isUnion = isUnion
        var end = 0
        ends = ledgers.map { layers in
            end += layers.count
            return end
        }
        let layers = ledgers.joined()
        // The chunks read ahead stay bounded, regardless of the number of layers.
        let readAhead = max(1, min(readAhead, 8_192 / max(1, layers.count)))
        let scope = LedgerScope(source: source, table: table, key: key, readAhead: readAhead, skipsDamage: skipsDamage)
        cursors = []
        for layer in layers {
            cursors.append(try LedgerLayerCursor(layer: layer, scope: scope, preloaded: preloaded[layer]))
        }
    }

    /// Goes to the next known id, in its newest state.
    ///
    /// - Returns: False if there is none; every further call then returns false too.
    /// - Throws: ``LedgerError/damaged``, or errors of the source. The view is unusable after that.
    package mutating func next() async throws -> Bool {
        while isLeading {
            guard try cursors[winner].step() == .entry else { break }
            let hash = cursors[winner].head
            if let bound, !(hash < bound) { break }
            position = hash
            // No other ledger has the id.
            if isUnion {
                allFeeds = cursors[winner].reader.shape == shape ? cursors[winner].reader.feeds : []
                isAnyDefaulted = cursors[winner].reader.isDefaulted
            }
            if cursors[winner].reader.state != .unknown { return true }
        }
        return try await merge()
    }

    /// Goes to an id and returns true if it is known; ``next()`` goes on behind it in either case.
    ///
    /// - Precondition: The hash is not less than ``position``.
    /// - Throws: ``LedgerError/damaged``, or errors of the source. The view is unusable after that.
    package mutating func seek(to hash: IDHash) async throws -> Bool {
        if hash == position { return winner >= 0 }
        precondition(position.map { $0 < hash } ?? true, "a view goes forward only")
        position = hash
        isLeading = false
        winner = -1
        var index = 0
        for end in ends {
            while index < end {
                if try await cursors[index].seek(hash) {
                    consider(index)
                    break
                }
                index += 1
            }
            index = end
        }
        return winner >= 0
    }

    /// Takes the entry of one ledger for the current id into account.
    private mutating func consider(_ index: Int) {
        let state = cursors[index].reader.state
        guard isUnion else {
            if state != .unknown { winner = index }
            return
        }
        guard Self.rank(state) > 0 else { return }
        let feeds = cursors[index].reader.shape == shape ? cursors[index].reader.feeds : []
        if winner < 0 || Self.rank(cursors[winner].reader.state) < Self.rank(state) {
            (winner, allFeeds, isAnyDefaulted) = (index, feeds, cursors[index].reader.isDefaulted)
        } else if cursors[winner].reader.state == state {
            // If one ledger does not know the feeds, they are unknown.
            allFeeds = allFeeds.isEmpty || feeds.isEmpty ? [] : allFeeds.union(feeds)
            isAnyDefaulted = isAnyDefaulted || cursors[index].reader.isDefaulted
        }
    }

    private static func rank(_ state: LedgerState) -> Int {
        switch state {
        case .held: 3
        case .tombstone: 2
        case .seen: 1
        case .unknown: 0
        }
    }

    /// Brings all cursors behind the position and finds the one with the least id.
    private mutating func merge() async throws -> Bool {
        isLeading = false
        var leader = -1
        repeat {
            winner = -1
            var least = -1
            bound = nil
            for index in cursors.indices {
                if let position {
                    if try !cursors[index].passInMemory(position) { try await cursors[index].pass(position) }
                } else if cursors[index].position == .gap {
                    try await cursors[index].next()
                }
                guard cursors[index].position == .entry else { continue }
                let head = cursors[index].head
                if least < 0 || head < cursors[least].head {
                    if least >= 0 { bound = cursors[least].head }
                    least = index
                } else if bound.map({ head < $0 }) ?? true {
                    bound = head
                }
            }
            guard least >= 0 else { return false }
            position = cursors[least].head
            leader = least
            if isUnion { considerAll(at: cursors[least].head) } else { consider(least) }
        } while winner < 0
        // A cursor that shares this id with others cannot go on alone.
        isLeading = winner == leader
        return true
    }

    /// Takes the entries of all ledgers for an id into account.
    private mutating func considerAll(at hash: IDHash) {
        var index = 0
        for end in ends {
            while index < end {
                if cursors[index].position == .entry, cursors[index].head == hash {
                    consider(index)
                    break
                }
                index += 1
            }
            index = end
        }
    }
}

// The current entry; its state is unknown if there is none.
extension LedgerView {
    /// True if the view is at an entry.
    @inline(__always)
    package var isAtEntry: Bool { winner >= 0 }

    /// The state of the record.
    @inline(__always)
    package var state: LedgerState { winner >= 0 ? cursors[winner].reader.state : .unknown }

    /// The hash of the content that the device was sent; nil if none can be trusted.
    @inline(__always)
    package var content: UInt64? { winner >= 0 && !isUnion ? cursors[winner].reader.content : nil }

    /// The hash of the content that the device was sent before a push of the record; nil if that is ``content``, or
    /// unknown.
    var formerContent: UInt64? { winner >= 0 && !isUnion ? cursors[winner].reader.formerContent : nil }

    /// True if a held record went out with a default in place of a value that could not be read.
    @inline(__always)
    package var isDefaulted: Bool {
        winner >= 0 && (isUnion ? isAnyDefaulted : cursors[winner].reader.isDefaulted)
    }

    /// The time at which a tombstone was made; else 0.
    @inline(__always)
    package var goneAt: Instant { winner >= 0 ? cursors[winner].reader.goneAt : 0 }

    /// Returns the digest of the link column at an index of the table's links; 0 if it is unknown or there is none.
    @inline(__always)
    package func link(_ index: Int) -> UInt64 { hasShape ? cursors[winner].reader.link(index) : 0 }

    /// The feeds that the record came by; empty if unknown.
    @inline(__always)
    package var feeds: FeedSet {
        isUnion ? (winner >= 0 ? allFeeds : []) : hasShape ? cursors[winner].reader.feeds : []
    }

    /// The layer that has the current entry; nil if there is none.
    package var layer: LayerID? { winner >= 0 ? cursors[winner].layer.id : nil }

    /// Passes the id's text to `body`; valid only as long as `body` runs, and empty if there is no entry.
    @inline(__always)
    package func withID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        winner >= 0 ? cursors[winner].reader.withID(body) : body(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Passes the packed id to `body`; valid only as long as `body` runs, and empty if there is no entry.
    @inline(__always)
    package func withPackedID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        winner >= 0 ? cursors[winner].reader.withPackedID(body) : body(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// The entry as a value; nil if there is none.
    package var entry: LedgerEntry? {
        guard winner >= 0, let position else { return nil }
        return LedgerEntry(
            id: cursors[winner].reader.id, hash: position, state: state, content: content, isDefaulted: isDefaulted,
            links: (0..<shape.links).map { link($0) }, feeds: feeds, goneAt: goneAt)
    }

    /// Adds the entry to a writer of another layer; without links and feeds if the shapes differ.
    ///
    /// - Precondition: The view is at an entry.
    @inline(__always)
    package func append(to writer: inout LedgerChunkWriter) {
        guard winner >= 0, let position else { preconditionFailure("the view is at no entry") }
        if isUnion, let entry { return writer.append(entry) }
        writer.append(entryOf: cursors[winner].reader, hash: position)
    }

    @inline(__always)
    private var hasShape: Bool { winner >= 0 && cursors[winner].reader.shape == shape }
}
