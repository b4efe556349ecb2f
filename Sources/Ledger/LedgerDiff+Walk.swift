// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import SyncModel

// One walk over a table: stream, ledger and notes are merged in the order of their hashes.
extension LedgerDiff {
    mutating func walk(
        _ table: LedgerDiffTable, for purpose: LedgerDiffTable.Purpose, reader: inout DeduplicationReader,
        sinks: Sinks
    ) async throws {
        try await reader.open(input.order.rank[table.index])
        var writer = LedgerChunkWriter(
            table: table.name, shape: table.shape, maximumBytes: input.chunkBytes)
        guard table.isLedgered, input.plan.basis != .nothing || !table.notes.isEmpty else {
            return try await walkStream(table, for: purpose, reader: &reader, writer: &writer, sinks: sinks)
        }
        var view = try LedgerView(
            source: input.source, ledgers: input.ledgers, isUnion: input.plan.basis == .principal,
            preloaded: input.preloaded, table: table.name, shape: table.shape, key: input.key,
            skipsDamage: input.skipsDamage)
        let isScan = scans(table, purpose)
        var hasGroup = try await reader.next()
        var hasEntry = isScan ? try await view.next() : false
        var notes = table.notes[...]
        var unread = table.unread[...]
        while true {
            var least: IDHash?
            if hasGroup { least = reader.group.hash }
            if hasEntry, let position = view.position, position < least ?? position || least == nil { least = position }
            if let note = notes.first, least.map({ note.hash < $0 }) ?? true { least = note.hash }
            if let hash = unread.first, least.map({ hash < $0 }) ?? true { least = hash }
            guard let hash = least else { break }
            if unread.first == hash { unread.removeFirst() }
            let isInStream = hasGroup && reader.group.hash == hash
            known.clear()
            if isScan ? hasEntry && view.position == hash : try await view.seek(to: hash) { known.load(view, table) }
            let note = notes.first?.hash == hash ? notes.removeFirst().note : nil
            if let note { known.overlay(note, shape: table.shape) }
            let subject = Subject(hash: hash, isInStream: isInStream, note: note)
            judge(in: table, for: purpose, subject, reader.group, view: view, writer: &writer)
            while let chunk = writer.takeFullChunk() { chunks.append(chunk) }
            if chunks.count >= Self.chunkBatch || deletions[table.index].isFull { try await flush(sinks) }
            if isScan, hasEntry, view.position == hash { hasEntry = try await view.next() }
            if isInStream { hasGroup = try await reader.next() }
        }
        finish(table, for: purpose, writer: &writer)
    }

    /// Returns true if all of the ledger has to be read, not only the records that the stream names.
    func scans(_ table: LedgerDiffTable, _ purpose: LedgerDiffTable.Purpose) -> Bool {
        guard input.plan.basis != .nothing else { return false }
        return !table.rules.comparedFeeds.isEmpty || table.hasDeletions || table.hasMovedParents || purpose == .gather
            || purpose == .write && input.plan.output == .whole
    }

    /// Walks a table without knowledge: in a first pull, or without a ledger.
    private mutating func walkStream(
        _ table: LedgerDiffTable, for purpose: LedgerDiffTable.Purpose, reader: inout DeduplicationReader,
        writer: inout LedgerChunkWriter, sinks: Sinks
    ) async throws {
        let view = try LedgerView(
            source: input.source, layers: [], table: table.name, shape: table.shape, key: input.key)
        let isPlain =
            purpose == .write && table.rules.isFirst && !table.hasDeletions && !table.hasMovedParents
            && table.unread.isEmpty
        known.clear()
        loop: while true {
            switch reader.advance() {
            case .end: break loop
            case .starved:
                try await reader.refill()
                continue
            case .group: break
            }
            if isPlain, reader.group.isSingleUpsert, let upsert = reader.group.upsert {
                diffed.verdicts[table.index].create(upsert.line)
                figures.created &+= 1
                appendHeld(reader.group, upsert, in: table, feeds: reader.group.added, writer: &writer)
            } else {
                known.clear()
                let subject = Subject(hash: reader.group.hash, isInStream: true, note: nil)
                judge(in: table, for: purpose, subject, reader.group, view: view, writer: &writer)
            }
            while let chunk = writer.takeFullChunk() { chunks.append(chunk) }
            if chunks.count >= Self.chunkBatch || deletions[table.index].isFull { try await flush(sinks) }
        }
        finish(table, for: purpose, writer: &writer)
    }

    private mutating func finish(
        _ table: LedgerDiffTable, for purpose: LedgerDiffTable.Purpose, writer: inout LedgerChunkWriter
    ) {
        while let chunk = writer.takeRest() { chunks.append(chunk) }
        guard purpose == .write, table.isLedgered else { return }
        counts[table.name, default: LedgerCount()].entries += writer.count.entries
        counts[table.name, default: LedgerCount()].bytes += writer.count.bytes
        if input.plan.output == .whole { counts[table.name, default: LedgerCount()].held = writer.count.held }
    }

    mutating func appendHeld(
        _ group: RecordGroup, _ upsert: DeduplicationEntry, in table: LedgerDiffTable, feeds: FeedSet,
        writer: inout LedgerChunkWriter
    ) {
        guard table.isLedgered else { return }
        writer.append(group, upsert, isDefaulted: report.note(upsert.isDefaulted, in: table), feeds: feeds)
    }
}

extension LedgerChunkWriter {
    /// Adds a record that is held as the stream has brought it.
    @inline(__always)
    fileprivate mutating func append(
        _ group: RecordGroup, _ upsert: DeduplicationEntry, isDefaulted: Bool, feeds: FeedSet
    ) {
        group.packedID.withUnsafeBytes { id in
            group.links.withUnsafeBufferPointer { links in
                append(
                    packed: id, hash: group.hash, state: .held, content: upsert.content, isDefaulted: isDefaulted,
                    links: links, feeds: feeds)
            }
        }
    }
}
