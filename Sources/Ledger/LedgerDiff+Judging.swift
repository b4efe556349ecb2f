// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import SyncModel

// What a verdict means for the answer and for the next layer.
extension LedgerDiff {
    /// The record that a walk is at.
    struct Subject {
        var hash: IDHash
        var isInStream: Bool
        var note: PushNote?
    }

    mutating func judge(
        in table: LedgerDiffTable, for purpose: LedgerDiffTable.Purpose, _ subject: Subject, _ group: RecordGroup,
        view: LedgerView, writer: inout LedgerChunkWriter
    ) {
        let came = subject.isInStream ? group : nil
        var verdict = RecordVerdict(known, came, rules: table.rules)
        let ordered = table.types.count == 1 ? came : nil
        let unreadable = input.signs.unreadable(subject.hash, in: table.index, after: ordered)
        let (isUnreadable, unread) = (unreadable != nil, unreadable?.feeds ?? [])
        let isUnsettled = table.isUnsettled(verdict, of: known, at: subject.hash, in: group)
        if isUnsettled, verdict.outcome != .absent { verdict.outcome = .kept }
        // By the feed of its unreadable line a record is there, too, also if it leaves the others.
        if !verdict.feeds.isEmpty { verdict.feeds.formUnion(unread) }
        if purpose == .count || purpose == .gather {
            if known.state == .held { missing.held += 1 }
            if verdict.isAbsent, !isUnreadable, !isUnsettled { missing.absent += 1 }
            if verdict.outcome == .deletedAgain, !isUnreadable { missing.again += 1 }
            if purpose == .count { return }
        }
        // As if two pulls had brought them: a parent that went in a later request takes an unreadable child along, also
        // where all records came but such.
        if isUnreadable, verdict.outcome == .absent {
            verdict.parent = RecordVerdict.parentGone(known.links, table.rules, since: 0)
        }
        let isTakenAlong = unreadable.map { verdict.parent?.takesAlong($0.sequence) == true } ?? true
        let remaining = subject.isInStream ? group.remaining : .all
        let isGone: Bool
        switch verdict.outcome {
        case .absent: isGone = isTakenAlong && !isUnsettled && !table.isRefused && !table.isHeldBack
        case .descendant: isGone = isTakenAlong && !table.isRefused && !(verdict.isAbsent && table.isHeldBack)
        case .deletedAgain: isGone = !isUnreadable && !table.isBlind
        case .deleted: isGone = !isUnreadable && !mayHaveMoved(in: table, to: remaining)
        // A row that came and is not delivered has gone with its parent.
        case .untouched: isGone = isTakenAlong && subject.isInStream && (group.deletion ?? group.upsert) != nil
        case .created, .updated, .equal, .kept: isGone = false
        }
        if table.isParent, !table.isCyclic || purpose != .write {
            noteParent(in: table, subject, group, gone: isGone ? verdict : nil)
        }
        if purpose == .gather { noteChild(in: table, subject, group, verdict: verdict, since: unreadable?.sequence) }
        guard purpose == .write else { return }
        if subject.isInStream { diffed.superseded += group.lines - 1 }
        if let redelivery = table.redeliveries[subject.hash] { redeliver(redelivery, in: table, subject) }
        if table.isOpen(verdict, of: known, unreadable, in: came) { report.suspended.formUnion(table.requestTypes) }
        if isUnsettled || table.mayBeGone(verdict, of: known, at: subject.hash, in: group) {
            report.suspended.formUnion(table.requestTypes.intersection(input.plan.compared))
        }
        if isUnsettled { known.content = nil }
        let entry = Judged(table: table, subject: subject, group: group, view: view)
        switch verdict.outcome {
        case .created, .updated, .equal: deliver(verdict, at: entry, writer: &writer)
        case .kept:
            let feeds = known.kept(verdict.feeds, unread, in: table.rules)
            keep(feeds, at: entry, isUnseen: isUnreadable || isUnsettled, writer: &writer)
        case .untouched: keepUntouched(entry, &writer)
        case .absent where !isGone, .descendant where !isGone && verdict.isAbsent:
            figures.heldBack += 1
            keep(known.feeds(missingIn: table.rules, unread), at: entry, isUnseen: true, writer: &writer)
        case .deletedAgain where !isGone:
            // Whether the device has it is as uncertain as before; a tombstone would be believed from now on.
            figures.heldBack += 1
            changeHeld(table, by: known.wasHeld ? 0 : 1)
            append(.held, content: nil, feeds: [], at: entry, writer: &writer)
        case .deleted where !isGone, .descendant where !isGone:
            guard known.state == .held else { return keepUntouched(entry, &writer) }
            let left = known.feeds(leftOf: remaining, table.rules)
            keep(left.union(unread), at: entry, isUnseen: isUnreadable, writer: &writer)
        case .absent, .deleted, .descendant, .deletedAgain: remove(verdict.outcome, at: entry, writer: &writer)
        }
    }

    /// Delivers a pending redelivery that came, or would have come; any other needs a comparison.
    private mutating func redeliver(_ redelivery: PendingRedelivery, in table: LedgerDiffTable, _ subject: Subject) {
        if subject.isInStream || !table.rules.comparedFeeds.isEmpty {
            delivered.append(redelivery)
        } else {
            report.awaitingRedelivery.formUnion(table.requestTypes)
        }
    }

    /// Returns true if a record that has left its feed may have gone to one that brings no lines for now.
    private func mayHaveMoved(in table: LedgerDiffTable, to remaining: FeedSet) -> Bool {
        known.state == .held && !remaining.isDisjoint(with: table.rules.refusedFeeds)
    }

    /// The entry for which a verdict is carried out.
    private struct Judged {
        let table: LedgerDiffTable
        let subject: Subject
        let group: RecordGroup
        let view: LedgerView
    }

    /// Notes that a record is gone, by the verdict, or that it went and came again.
    private mutating func noteParent(
        in table: LedgerDiffTable, _ subject: Subject, _ group: RecordGroup, gone: RecordVerdict?
    ) {
        let isNews = subject.isInStream && group.firstDeletion > 0
        let link = subject.hash.link
        if let gone {
            let isMissing = gone.isAbsent || gone.outcome == .deletedAgain
            var departure = gone.parent ?? RecordVerdict.Departure(isAbsent: isMissing)
            if gone.parent == nil, isNews {
                departure.began = input.signs.beginning(ofRequestOf: group.firstDeletion)
                departure.resumed = input.signs.beginning(ofPartOf: group.firstDeletion)
            }
            // Of what nobody has ever had, nothing hangs on the device either: its children need no looking for.
            let isLate = departure.began > 0 || departure.resumed > 0
            guard isLate || !table.rules.isFirst && mayBeKnown(in: table, subject, group) else { return }
            parents.end(link, of: table.index, departure)
        } else if isNews, let upsert = group.upsert, group.firstDeletion < upsert.sequence,
            (known.feeds.isEmpty ? table.rules.allFeeds : known.feeds).isDisjoint(with: group.remaining)
        {
            let began = input.signs.beginning(ofPartOf: group.deletion?.sequence ?? group.firstDeletion)
            // A device without anything has no children but those that came in an earlier part.
            guard !table.rules.isFirst || began > 0 else { return }
            // A late deletion may be older than the record's children.
            if table.isLate {
                parents.leaveOpen(table.index)
            } else {
                parents.comeBack(link, of: table.index, began: began)
            }
        }
    }

    /// Returns true if the device may have, or have had, a record, or the stream brought it.
    private func mayBeKnown(in table: LedgerDiffTable, _ subject: Subject, _ group: RecordGroup) -> Bool {
        if subject.isInStream, group.upsert != nil { return true }
        guard let state = known.state, state != .unknown else { return !table.rules.isExact || !table.rules.isTracked }
        return true
    }

    /// Notes on which records of tables in a cycle a record hangs, if it is there otherwise.
    private mutating func noteChild(
        in table: LedgerDiffTable, _ subject: Subject, _ group: RecordGroup, verdict: RecordVerdict,
        since unreadable: UInt64?
    ) {
        guard !verdict.feeds.isEmpty || verdict.outcome == .descendant || unreadable != nil else { return }
        let upsert = subject.isInStream ? group.upsert : nil
        let links = upsert == nil ? known.links : group.links
        let newest = max(upsert?.sequence ?? 0, unreadable ?? 0)
        for (index, link) in links.enumerated() where index < table.parents.count {
            let pair = CycleDescent.Pair(parent: link, child: subject.hash.link, sequence: newest)
            for parent in table.parents[index] { descent.add(pair, from: parent, to: table.index) }
        }
    }

    private mutating func deliver(_ verdict: RecordVerdict, at entry: Judged, writer: inout LedgerChunkWriter) {
        guard let upsert = entry.group.upsert else { return }
        let index = entry.table.index
        switch verdict.outcome {
        case .created:
            diffed.verdicts[index].create(upsert.line)
            figures.created += 1
        case .updated:
            diffed.verdicts[index].update(upsert.line)
            figures.updated += 1
            if known.isNoted, entry.table.redeliveries[entry.subject.hash] == nil { figures.echoes += 1 }
        default: figures.equal += 1
        }
        if verdict.outcome != .equal { noteRepair(entry) }
        guard entry.table.isLedgered else { return }
        if verdict.outcome == .equal, input.plan.output == .delta, !known.isNoted,
            entry.table.shape.feedBytes == 0 || verdict.feeds == known.feeds, known.links == entry.group.links,
            known.isDefaulted == upsert.isDefaulted
        {
            return
        }
        changeHeld(entry.table, by: known.wasHeld ? 0 : 1)
        appendHeld(entry.group, upsert, in: entry.table, feeds: verdict.feeds, writer: &writer)
    }

    /// Keeps a record, and writes an entry if a part of it has changed, or all entries are written.
    ///
    /// One that a migration has fetched in vain loses its hash: its content has to go out once it comes (finding 24).
    private mutating func keep(
        _ feeds: FeedSet, at entry: Judged, isUnseen: Bool, writer: inout LedgerChunkWriter
    ) {
        guard entry.table.isLedgered else { return }
        let isLacking = isUnseen && entry.table.rules.isFetched
        let content = isLacking ? nil : known.content
        // Where the feeds were unknown, fewer than all are news, or each comparison would wait for the others.
        let before = known.feeds.isEmpty && !feeds.isEmpty ? entry.table.rules.allFeeds : known.feeds
        // The next pull would trust it again: all has been compared then.
        let isDistrusted = known.isDistrusted && !entry.table.rules.comparedFeeds.isEmpty
        let isNews =
            known.isNoted || isDistrusted || isLacking && known.sent != nil
            || entry.table.shape.feedBytes > 0 && feeds != before
        guard isNews || input.plan.output == .whole else { return }
        changeHeld(entry.table, by: known.wasHeld ? 0 : 1)
        let isFormer = content == nil && !entry.table.rules.isFetched
        append(
            .held, content: isFormer ? known.sent : content, isFormer: isFormer, feeds: feeds, at: entry,
            writer: &writer)
    }

    /// Entries that say nothing about what is there: tombstones, and what a push has named.
    private mutating func keepUntouched(_ entry: Judged, _ writer: inout LedgerChunkWriter) {
        guard entry.table.isLedgered, let state = known.state, state != .unknown else { return }
        guard known.isNoted || input.plan.output == .whole else { return }
        if state == .tombstone, !known.isNoted, known.goneAt < input.tombstonesBefore { return }
        changeHeld(entry.table, by: known.wasHeld && state != .held ? -1 : 0)
        append(state, content: nil, feeds: [], at: entry, writer: &writer)
    }

    private mutating func remove(
        _ outcome: RecordVerdict.Outcome, at entry: Judged, writer: inout LedgerChunkWriter
    ) {
        let index = entry.table.index
        figures.deleted += 1
        switch outcome {
        case .absent: figures.absent += 1
        case .descendant: figures.descendants += 1
        default: break
        }
        if outcome != .deletedAgain { noteRepair(entry) }
        if entry.subject.isInStream, let deletion = entry.group.deletion, outcome == .deleted {
            diffed.verdicts[index].delete(deletion.line)
        } else {
            withPackedID(entry) { packed in
                _ = PackedID.withText(of: packed) { deletions[index].append(id: $0) }
            }
        }
        guard entry.table.isLedgered else { return }
        if known.state == .tombstone, known.isStored, !known.isNoted, input.plan.output == .delta { return }
        changeHeld(entry.table, by: known.wasHeld ? -1 : 0)
        known.goneAt = input.now
        append(.tombstone, content: nil, feeds: [], at: entry, writer: &writer)
    }

    /// Notes a difference that the stream had not brought before everything was requested again.
    private mutating func noteRepair(_ entry: Judged) {
        guard let began = input.comparisonBegan, entry.table.rules.isAudited, !known.isNoted else { return }
        if !entry.subject.isInStream || entry.group.firstSequence > began { figures.repairs += 1 }
    }

    private mutating func changeHeld(_ table: LedgerDiffTable, by change: Int) {
        if change != 0, input.plan.output == .delta { counts[table.name, default: LedgerCount()].held += change }
    }

    private func withPackedID(_ entry: Judged, _ body: (UnsafeRawBufferPointer) -> Void) {
        if entry.subject.isInStream, !entry.group.packedID.isEmpty {
            entry.group.packedID.withUnsafeBytes(body)
        } else if entry.view.isAtEntry, entry.view.position == entry.subject.hash {
            entry.view.withPackedID(body)
        } else if let note = entry.subject.note {
            var packed: [UInt8] = []
            Array(note.id.utf8).withUnsafeBytes { PackedID.append($0, to: &packed) }
            packed.withUnsafeBytes(body)
        }
    }

    private mutating func append(
        _ state: LedgerState, content: UInt64?, isFormer: Bool = false, feeds: FeedSet, at entry: Judged,
        writer: inout LedgerChunkWriter
    ) {
        let goneAt = state == .tombstone ? (known.goneAt == 0 ? input.now : known.goneAt) : 0
        let isDefaulted = report.note(state == .held && known.isDefaulted, in: entry.table)
        known.links.withUnsafeBufferPointer { links in
            withPackedID(entry) { id in
                writer.append(
                    packed: id, hash: entry.subject.hash, state: state, content: content, isFormer: isFormer,
                    isDefaulted: isDefaulted, links: links, feeds: feeds, goneAt: goneAt)
            }
        }
    }
}
