// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// The records that a client holds when it pushes: the ledger of its replica at the presented cursor, with the notes of
/// its principal's newer pushes laid over it.
package struct HeldRecords: Sendable {
    /// The configuration.
    package var schema: Schema
    /// The source of the chunks.
    package var source: any LedgerSource
    /// The layers of the ledger in lookup order.
    package var layers: [LedgerLayer]
    /// The notes of pushes that the cursor has not seen.
    package var notes: [PushNote]
    /// The key of id hashes.
    package var key: SipHash.Key

    /// Creates held records from their parts as they are.
    package init(
        schema: Schema, source: any LedgerSource, layers: [LedgerLayer], notes: [PushNote] = [], key: SipHash.Key
    ) {
        self.schema = schema
        self.source = source
        self.layers = layers
        self.notes = notes
        self.key = key
    }

    /// Returns a walk over the records of one table, before the first one.
    func walk(_ index: Int) throws(LedgerError) -> HeldRecordWalk {
        let table = schema.tables[index]
        var byHash: [IDHash: PushNote] = [:]
        for note in notes where note.table == table.name { byHash[IDHash(id: note.id, key: key)] = note }
        let shape = LedgerShape(table: table)
        let view = try LedgerView(source: source, layers: layers, table: table.name, shape: shape, key: key)
        return HeldRecordWalk(view: view, notes: byHash, shape: shape)
    }

    /// Returns true if the client holds the record of an id's hash in a table, by the table's index in the schema.
    package func contains(_ hash: IDHash, in index: Int) async throws -> Bool {
        var walk = try walk(index)
        return try await walk.seek(to: hash)
    }

    /// Returns, for each link of a table, the indices of the tables whose deleted records delete records of this table.
    func parents(of index: Int) -> [[Int]] {
        schema.tables[index].links.map { link in
            link.parents.compactMap { name in schema.tables.firstIndex { $0.name == name } }
        }
    }
}

/// A walk over the records of one table that a client holds, in full or by single ids in the order of their hashes.
struct HeldRecordWalk {
    private var view: LedgerView
    private var notes: [IDHash: PushNote]
    private let shape: LedgerShape
    /// The note of the current record, if the ledger does not have the record.
    private var note: PushNote?

    /// The hash of the current record's id.
    private(set) var hash = IDHash.first
    /// The digests of the current record's links; 0 if unknown.
    private(set) var links: [UInt64] = []

    init(view: LedgerView, notes: [IDHash: PushNote], shape: LedgerShape) {
        self.view = view
        self.notes = notes
        self.shape = shape
    }

    /// The id of the current record.
    var id: String { note?.id ?? view.entry?.id ?? "" }

    /// Goes to the next record that the client holds; records that only notes name come last.
    mutating func next() async throws -> Bool {
        while try await view.next() {
            guard let position = view.position else { break }
            hash = position
            if load(notes.isEmpty ? nil : notes.removeValue(forKey: position)) { return true }
        }
        while let (position, note) = notes.popFirst() {
            hash = position
            if load(note) { return true }
        }
        return false
    }

    /// Goes to a record and returns true if the client holds it; not to be mixed with ``next()``.
    mutating func seek(to hash: IDHash) async throws -> Bool {
        self.hash = hash
        _ = try await view.seek(to: hash)
        return load(notes[hash])
    }

    /// Loads the record at ``hash`` and returns true if it counts as held.
    ///
    /// The backend need not have a record that is only seen or was refused, and it has already deleted one that is
    /// gone.
    private mutating func load(_ note: PushNote?) -> Bool {
        self.note = nil
        links.removeAll(keepingCapacity: true)
        guard note?.state != .gone else { return false }
        if view.isAtEntry, view.position == hash, view.state == .held {
            for link in 0..<shape.links { links.append(view.link(link)) }
            return true
        }
        guard let note, note.state == .held else { return false }
        self.note = note
        let fits = note.shape == shape.tag && note.links.count == shape.links
        links = fits ? note.links : Array(repeating: 0, count: shape.links)
        return true
    }
}
