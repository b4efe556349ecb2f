// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// One table of a ledger as a cursor sees it: through all its layers, forward only.
///
/// It can also show the ledgers of several devices as one, if it is unknown which device's is right: a record that any
/// of them holds counts as held, else one that any had deleted as deleted, by all feeds together and without a hash.
///
/// ``next()`` walks through everything, ``seek(to:)`` looks one id up and reads only chunks that can hold it; both can
/// be mixed. While the view is at an entry, its properties describe it, without allocating.
///
/// Layers that do not change while the view is in use are read consistently. A base that is compacted meanwhile may
/// look damaged; a pull detects that by the ledger's version.
package struct LedgerView: Sendable {
    /// The client's table.
    package let table: String
    /// The meaning of links and feeds; those of chunks of another shape are unknown.
    package let shape: LedgerShape
    /// The hash of the current entry, or what was looked for last; nil before the first.
    package private(set) var position: IDHash?

    private var cursors: [LedgerLayerCursor]
    /// The end of each ledger's cursors; and true if there may be several ledgers.
    private let ends: [Int]
    private let isUnion: Bool
    /// The sources of the current entry in all ledgers that agree about its state.
    private var allSources: UInt64 = 0
    /// The cursor that is at the current entry; -1 where there is none.
    private var winner = -1
    /// True if every other cursor is behind the position, the next of them at `bound`.
    private var isLeading = false
    private var bound: IDHash?

    /// Creates a view before the first entry.
    ///
    /// - Parameters:
    ///   - source: The source of chunks that are not preloaded.
    ///   - layers: In the order of their priority, as ``LedgerOutline/layers`` has them.
    ///   - preloaded: All chunks of those layers that are small, in their order, of this and other tables.
    ///   - table: The client's table.
    ///   - shape: The present shape of the table's entries.
    ///   - key: The deployment's key of id hashes.
    ///   - readAhead: The most chunks that a walk reads at once; a walk begins with fewer.
    ///   - skipsDamage: True if chunks that cannot be read count as missing; else they are errors.
    /// - Throws: ``LedgerError/damaged`` if preloaded chunks are not in their order.
    package init(
        source: any LedgerSource, layers: [LayerID], preloaded: [LayerID: [LedgerChunk]] = [:], table: String,
        shape: LedgerShape, key: SipHash.Key, readAhead: Int = 16, skipsDamage: Bool = false
    ) throws(LedgerError) {
        try self.init(
            source: source, ledgers: [layers], isUnion: false, preloaded: preloaded, table: table, shape: shape,
            key: key, readAhead: readAhead, skipsDamage: skipsDamage)
    }

    /// Creates a view of one or several ledgers before the first entry; the rest is as for one.
    ///
    /// `ledgers` has the layers of each in the order of their priority: of any number of different devices where
    /// `isUnion` is set, else of one.
    package init(
        source: any LedgerSource, ledgers: [[LayerID]], isUnion: Bool, preloaded: [LayerID: [LedgerChunk]] = [:],
        table: String, shape: LedgerShape, key: SipHash.Key, readAhead: Int = 16, skipsDamage: Bool = false
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
        // However many layers there are, what is read ahead of them all stays bounded.
        let readAhead = max(1, min(readAhead, 1_024 / max(1, layers.count)))
        let scope = LedgerScope(source: source, table: table, key: key, readAhead: readAhead, skipsDamage: skipsDamage)
        cursors = []
        for layer in layers {
            cursors.append(try LedgerLayerCursor(layer: layer, scope: scope, preloaded: preloaded[layer]))
        }
    }

    /// Goes to the next id that is known, in its newest state.
    ///
    /// - Returns: False where there is none, and then with every call.
    /// - Throws: ``LedgerError/damaged``, or what the source throws. The view is of no use then.
    package mutating func next() async throws -> Bool {
        while isLeading {
            guard try cursors[winner].step() == .entry else { break }
            let hash = cursors[winner].head
            if let bound, !(hash < bound) { break }
            position = hash
            // No other ledger has it.
            if isUnion { allSources = cursors[winner].reader.shape == shape ? cursors[winner].reader.sources : 0 }
            if cursors[winner].reader.state != .unknown { return true }
        }
        return try await merge()
    }

    /// Goes to an id, and tells whether it is known; ``next()`` goes on behind it in either case.
    ///
    /// - Precondition: The hash is not less than ``position``.
    /// - Throws: ``LedgerError/damaged``, or what the source throws. The view is of no use then.
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

    /// Takes what one ledger says about the current id.
    private mutating func consider(_ index: Int) {
        let state = cursors[index].reader.state
        guard isUnion else {
            if state != .unknown { winner = index }
            return
        }
        guard Self.rank(state) > 0 else { return }
        let sources = cursors[index].reader.shape == shape ? cursors[index].reader.sources : 0
        if winner < 0 || Self.rank(cursors[winner].reader.state) < Self.rank(state) {
            (winner, allSources) = (index, sources)
        } else if cursors[winner].reader.state == state {
            // Where one does not know them, nobody does.
            allSources = allSources == 0 || sources == 0 ? 0 : allSources | sources
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

    /// Brings all cursors behind the position and finds the one that is next.
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
                } else if cursors[index].place == .gap {
                    try await cursors[index].next()
                }
                guard cursors[index].place == .entry else { continue }
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
        // One that stands beside others at this id cannot go on alone.
        isLeading = winner == leader
        return true
    }

    /// Takes what each ledger says about the id that its cursors may be at.
    private mutating func considerAll(at hash: IDHash) {
        var index = 0
        for end in ends {
            while index < end {
                if cursors[index].place == .entry, cursors[index].head == hash {
                    consider(index)
                    break
                }
                index += 1
            }
            index = end
        }
    }
}

// The current entry. Where there is none it is unknown.
extension LedgerView {
    /// True if the view is at an entry.
    @inline(__always)
    package var isAtEntry: Bool { winner >= 0 }

    /// The state of the record.
    @inline(__always)
    package var state: LedgerState { winner >= 0 ? cursors[winner].reader.state : .unknown }

    /// The hash of what the device was sent; nil where none is to be trusted.
    @inline(__always)
    package var content: UInt64? { winner >= 0 && !isUnion ? cursors[winner].reader.content : nil }

    /// The time at which a tombstone was made, in milliseconds since 1970; else 0.
    @inline(__always)
    package var goneAt: Int64 { winner >= 0 ? cursors[winner].reader.goneAt : 0 }

    /// Returns the digest of the link column at an index of the table's links; 0 if it is unknown or there is none.
    @inline(__always)
    package func link(_ index: Int) -> UInt64 { hasShape ? cursors[winner].reader.link(index) : 0 }

    /// The feeds that the record came by; 0 where they are unknown.
    @inline(__always)
    package var sources: UInt64 {
        isUnion ? (winner >= 0 ? allSources : 0) : hasShape ? cursors[winner].reader.sources : 0
    }

    /// The layer that tells it.
    package var layer: LayerID? { winner >= 0 ? cursors[winner].layer : nil }

    /// Passes the id's text to `body`, valid only during the call; empty if there is no entry.
    @inline(__always)
    package func withID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        winner >= 0 ? cursors[winner].reader.withID(body) : body(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Passes the packed id to `body`, valid only during the call; empty if there is no entry.
    @inline(__always)
    package func withPackedID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        winner >= 0 ? cursors[winner].reader.withPackedID(body) : body(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// The entry as a value; nil where there is none.
    package var entry: LedgerEntry? {
        guard winner >= 0, let position else { return nil }
        return LedgerEntry(
            id: cursors[winner].reader.id, hash: position, state: state, content: content,
            links: (0..<shape.links).map { link($0) }, sources: sources, goneAt: goneAt)
    }

    /// Adds the entry to those of another layer; without links and sources where the shapes differ.
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
