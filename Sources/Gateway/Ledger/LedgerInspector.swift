// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Accounts
package import GatewayConfig
import Ledger
package import LineProjection
package import StateStore
package import SyncModel

/// Inspects the ledger of a replica for the operator; changes nothing.
///
/// The ledger knows records by keyed digests of their ids, so this needs the configuration's `[identity] key`.
package struct LedgerInspector: Sendable {
    private let store: Accounts
    private let schema: Schema
    /// The key with which ids are hashed under this configuration.
    package let key: SipHash.Key

    /// Creates an inspector of the state that a gateway with this configuration keeps.
    package init(configuration: Configuration, store: Accounts) {
        self.store = store
        schema = configuration.schema
        key = KeyedDigest(key: configuration.identity.key.bytes).hashKey
    }

    /// Finds everything in the state about a record.
    ///
    /// - Throws: `StateError`, or `LedgerError` if the ledger is damaged.
    package func find(_ id: String, in table: Table, of replica: ReplicaRow) async throws -> RecordFinding {
        let (row, outline) = try await view(of: replica)
        var finding = RecordFinding(
            cursor: row?.cursor, confirmed: replica.tip, hasLedger: table.isLedgered && outline?.base != nil,
            isExact: outline?.isExact ?? false)
        if let outline, finding.hasLedger {
            let hash = IDHash(id: id, key: key)
            for layer in outline.layers {
                guard let (entry, shape) = try await entry(hash, in: layer, table.name) else { continue }
                finding.sights.append(
                    .init(
                        origin: Self.origin(of: layer, in: outline), entry: entry,
                        hasPresentShape: Self.fits(shape, table)))
            }
            if let first = finding.sights.first, first.hasPresentShape {
                finding.parents = try await parents(of: first.entry, table, outline)
            }
        }
        finding.mappings = try await store.read(replica.principal) {
            try IDRules.mappings(with: id, in: table.name, of: &$0)
        }
        finding.isKept = finding.mappings.contains {
            row?.ids.kept.contains(VisibleIDs.Entry(table: table.name, id: $0.mapping.backendID)) ?? false
        }
        finding.note = try await store.read(replica.principal) {
            try NoteRules.note(of: PushedRecordKey(table: table.name, id: id), in: &$0)
        }
        finding.isNoteNew = finding.note.map { $0.sequence > row?.noted ?? 0 } ?? false
        finding.refusal = try await store.read(replica.principal) {
            try RefusalRules.refusal(of: PushedRecordKey(table: table.name, id: id), in: &$0)
        }
        for entry in try await store.inspection.quarantined(limit: 10_000) where entry.line.table == table.name {
            if entry.line.id == id { finding.quarantined.append(entry) }
            if entry.line.id == nil { finding.unreadable += 1 }
        }
        return finding
    }

    /// Returns the newest cursor on the replica's own line, and its ledger as of that cursor.
    private func view(of replica: ReplicaRow) async throws -> (row: CursorRow?, outline: LedgerOutline?) {
        // This is no client's session; the session's data are not used.
        let session = Session(rawValue: "inspection")
        var found: (row: CursorRow?, outline: LedgerOutline?)
        for cursor in [replica.newest, replica.tip].compactMap({ $0 }) {
            let context = try await store.read(replica.principal) {
                try ContextRule.context(of: &$0, session: session, presented: cursor)
            }
            guard let row = context.row else { continue }
            found = (row, context.ledger)
            // A newest cursor that was not made from the tip belongs to an answer that was lost.
            if replica.tip == nil || row.cursor == replica.tip || row.parent == replica.tip { break }
        }
        return found
    }

    private static func origin(
        of layer: LedgerLayer, in outline: LedgerOutline
    ) -> RecordFinding.Sight.Origin {
        guard layer.id != outline.base?.id else { return .base(layer.cursor) }
        return outline.undos.contains(layer) ? .before(layer.cursor) : .cursor(layer.cursor)
    }

    /// Returns true if entries of a shape fit the table's links and feeds.
    private static func fits(_ shape: LedgerShape, _ table: Table) -> Bool {
        shape == LedgerShape(table: table)
    }

    private func entry(
        _ hash: IDHash, in layer: LedgerLayer, _ table: String
    ) async throws -> (LedgerEntry, LedgerShape)? {
        guard let stored = try await store.chunkReader.chunk(holding: hash, in: table, of: layer) else { return nil }
        var reader = try LedgerChunkReader(stored.chunk.bytes)
        while try reader.next() {
            if reader.hash(key) == hash { return (reader.entry(key), reader.shape) }
        }
        return nil
    }

    private func parents(
        of entry: LedgerEntry, _ table: Table, _ outline: LedgerOutline
    ) async throws -> [RecordFinding.Parent] {
        var parents: [RecordFinding.Parent] = []
        for (link, digest) in zip(table.links, entry.links) where digest != 0 {
            let column = table.columns[link.column].name
            guard !link.parents.isEmpty else {
                parents.append(.init(column: column, digest: digest))
                continue
            }
            for parent in link.parents {
                let found = try await find(digest, in: parent, outline)
                parents.append(
                    .init(
                        column: column, digest: digest, table: parent, id: found?.id,
                        isHeld: found?.state == .held))
            }
        }
        return parents
    }

    /// Returns the record of a table with this digest; reads the whole table until it is found.
    private func find(_ digest: UInt64, in table: String, _ outline: LedgerOutline) async throws -> LedgerEntry? {
        for layer in outline.layers {
            var last: IDHash?
            while true {
                let chunks = try await store.chunkReader.chunks(after: last, in: table, of: layer, limit: 512)
                for stored in chunks {
                    var reader = try LedgerChunkReader(stored.chunk.bytes)
                    while try reader.next() {
                        // The first layer that has the record decides.
                        if reader.hash(key).link == digest { return reader.entry(key) }
                    }
                    last = stored.chunk.first
                }
                if chunks.count < 64 { break }
            }
        }
        return nil
    }
}
