// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel
import Testing

@testable import Deduplication
@testable import Ledger

/// What becomes of one record, case by case.
@Suite struct RecordVerdictTests {
    typealias Outcome = RecordVerdict.Outcome

    /// What was known before.
    enum Before: CaseIterable {
        case nothing, same, other, untrusted, tombstone, seen
        case notedUnknown, notedSame, seenUnknown, goneHeld, refusedSame, refusedOther, refusedUnknown

        var known: KnownRecord {
            var known = KnownRecord()
            switch self {
            case .nothing: break
            case .same, .notedSame, .goneHeld, .refusedSame: (known.state, known.content) = (.held, 1)
            case .other, .refusedOther: (known.state, known.content) = (.held, 2)
            case .untrusted: known.state = .held
            case .tombstone: known.state = .tombstone
            case .seen: known.state = .seen
            case .notedUnknown, .seenUnknown, .refusedUnknown: break
            }
            known.isStored = known.state != nil
            known.wasHeld = known.state == .held
            switch self {
            case .notedUnknown, .notedSame: known.overlay(Self.note(.held), shape: LedgerShape(links: 0, feeds: 1))
            case .seenUnknown: known.overlay(Self.note(.seen), shape: LedgerShape(links: 0, feeds: 1))
            case .goneHeld: known.overlay(Self.note(.gone), shape: LedgerShape(links: 0, feeds: 1))
            case .refusedSame, .refusedOther, .refusedUnknown:
                known.overlay(Self.note(.refused), shape: LedgerShape(links: 0, feeds: 1))
            default: break
            }
            return known
        }

        private static func note(_ state: PushNote.State) -> PushNote { PushNote(table: "t", id: "x", state: state) }
    }

    @Test(arguments: PushNote.State.allCases, [[], [7], [7, 8], [7, 8, 9]] as [[UInt64]])
    func `the links of a note count only where the table still has the same ones`(
        _ state: PushNote.State, _ links: [UInt64]
    ) {
        for tag: UInt32 in [1, 2] {
            var known = KnownRecord()
            known.overlay(
                PushNote(table: "t", id: "x", state: state, links: links, shape: 1),
                shape: LedgerShape(links: 2, feeds: 1, tag: tag))
            #expect(known.links == (tag == 1 && links.count == 2 ? links : []))
        }
    }

    static func entry(
        _ operation: DeduplicationEntry.Operation, feed: UInt8 = 0, sequence: UInt64 = 1
    ) -> DeduplicationEntry {
        DeduplicationEntry(
            idHigh: 1, idLow: 1, sequence: sequence, content: 1, line: 0, rank: TableRank(rawValue: 0), feed: feed,
            operation: operation)
    }

    /// A group of lines in their order: `+` brings the row, `-` takes its feed away, `!` all; a digit is the feed.
    static func group(_ lines: String?, links: [UInt64] = []) -> RecordGroup? {
        guard let lines else { return nil }
        var group = RecordGroup()
        for (place, line) in lines.split(separator: " ").enumerated() {
            let feed = UInt8(line.dropFirst()) ?? 0
            let operation: DeduplicationEntry.Operation =
                line.hasPrefix("+") ? .upsert : line.hasPrefix("!") ? .deleteAll : .delete
            let entry = entry(operation, feed: feed, sequence: UInt64(place + 1))
            if place == 0 { group.begin(entry) }
            group.take(entry, UnsafeRawBufferPointer(start: nil, count: 0))
        }
        group.links = links
        return group
    }

    static func outcome(
        _ before: Before, _ lines: String?, _ change: (inout RecordVerdict.Rules) -> Void = { _ in }
    ) -> Outcome {
        var rules = RecordVerdict.Rules()
        change(&rules)
        return RecordVerdict(before.known, group(lines), rules: rules).outcome
    }

    @Test(
        arguments: [
            (.nothing, .created), (.same, .equal), (.other, .updated), (.untrusted, .updated), (.tombstone, .created),
            (.seen, .updated), (.notedUnknown, .updated), (.notedSame, .updated), (.seenUnknown, .updated),
            (.goneHeld, .updated), (.refusedSame, .equal), (.refusedOther, .updated), (.refusedUnknown, .updated),
        ] as [(Before, Outcome)])
    func `a row that came is created, updated or dropped by what the device has`(_ row: (Before, Outcome)) {
        #expect(Self.outcome(row.0, "+") == row.1)
        #expect(Self.outcome(row.0, "- +") == row.1)
        #expect(Self.outcome(row.0, "+") { $0.isFirst = true } == .created)
    }

    @Test(arguments: Before.allCases)
    func `where the ledger is not exact nothing is created and nothing dropped`(_ before: Before) {
        #expect(Self.outcome(before, "+") { $0.isExact = false } == .updated)
    }

    @Test(
        arguments: [
            (.nothing, .created), (.same, .created), (.other, .created), (.untrusted, .created), (.tombstone, .created),
            (.notedUnknown, .updated), (.notedSame, .updated), (.goneHeld, .updated),
        ] as [(Before, Outcome)])
    func `24: of an added table the ledger is not asked, but pushes are`(_ row: (Before, Outcome)) {
        #expect(
            Self.outcome(row.0, "+") {
                ($0.isRenewed, $0.isEmpty, $0.isTracked, $0.trackedFeeds) = (true, true, false, 0)
            } == row.1)
        // Where the device may have some of it nothing is created: it may have deleted one without saying so yet.
        #expect(Self.outcome(row.0, "+") { $0.isRenewed = true } == .updated)
        #expect(
            Self.outcome(row.0, "+") { ($0.isRenewed, $0.isEmpty, $0.isExact) = (true, true, false) } == .updated)
    }

    @Test func `deletions of a table that the device has just got are not for it`() {
        for (isEmpty, expected) in [(true, Outcome.untouched), (false, .deleted)] {
            let outcome = Self.outcome(.nothing, "-") {
                ($0.isRenewed, $0.isEmpty, $0.isTracked, $0.trackedFeeds) = (true, isEmpty, false, 0)
            }
            #expect(outcome == expected)
        }
        // A device that was known to have one is told, and so is one whose records are unknown.
        #expect(Self.outcome(.same, "-") { ($0.isRenewed, $0.isEmpty) = (true, true) } == .deleted)
        #expect(
            Self.outcome(.nothing, "-") { ($0.isRenewed, $0.isEmpty, $0.isExact) = (true, true, false) } == .deleted)
    }

    @Test func `24: a row with a value in an added column is not equal to what was sent before`() throws {
        var entry = Self.entry(.upsert)
        entry.bringsAddedColumns = true
        #expect(entry.operation == .upsert)
        var group = RecordGroup()
        group.begin(entry)
        group.take(entry, UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(RecordVerdict(Before.same.known, group, rules: .init()).outcome == .updated)
        #expect(RecordVerdict(Before.nothing.known, group, rules: .init()).outcome == .created)
        entry.bringsAddedColumns = false
        group.begin(entry)
        group.take(entry, UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(RecordVerdict(Before.same.known, group, rules: .init()).outcome == .equal)
    }

    @Test func `a table that was never compared creates nothing, drops nothing and passes every deletion on`() {
        #expect(Self.outcome(.nothing, "+") { $0.isTracked = false } == .updated)
        #expect(Self.outcome(.nothing, "-") { $0.isTracked = false } == .deleted)
        #expect(Self.outcome(.same, "+") { $0.trackedFeeds = 0 } == .updated)
    }

    @Test(
        arguments: [
            (.nothing, .untouched), (.same, .deleted), (.other, .deleted), (.tombstone, .deleted), (.seen, .deleted),
            (.notedUnknown, .deleted), (.seenUnknown, .deleted), (.goneHeld, .deleted),
        ] as [(Before, Outcome)])
    func `a delete line is passed on unless the record was never met`(_ row: (Before, Outcome)) {
        for lines in ["-", "!", "+ -", "- -"] { #expect(Self.outcome(row.0, lines) == row.1, "\(lines)") }
        #expect(Self.outcome(row.0, "-") { $0.isFirst = true } == .untouched)
        #expect(Self.outcome(row.0, "-") { $0.isExact = false } == .deleted)
    }

    @Test(
        arguments: [
            (.nothing, .untouched, .untouched), (.same, .absent, .absent), (.untrusted, .absent, .absent),
            (.tombstone, .untouched, .deletedAgain), (.seen, .untouched, .untouched), (.notedUnknown, .absent, .absent),
            (.seenUnknown, .untouched, .untouched), (.goneHeld, .absent, .absent),
            (.refusedUnknown, .untouched, .untouched), (.refusedSame, .absent, .absent),
        ] as [(Before, Outcome, Outcome)])
    func `what did not come although everything did is missing, but never what was only seen`(
        _ row: (Before, Outcome, Outcome)
    ) {
        #expect(Self.outcome(row.0, nil) { $0.comparedFeeds = 1 } == row.1)
        #expect(
            Self.outcome(row.0, nil) {
                $0.comparedFeeds = 1
                $0.isExact = false
            } == row.2)
    }

    /// Two feeds: what was held before, the lines, the compared feeds; then the outcome and the feeds that are
    /// left.
    @Test(
        arguments: [
            (0b01, "-0", 0, .deleted, 0), (0b11, "-0", 0, .kept, 0b10), (0b01, "+1 -0", 0, .equal, 0b10),
            (0b01, "-0 +1", 0, .equal, 0b10), (0b11, "!0", 0, .deleted, 0), (0b10, "!0 +0", 0, .equal, 0b01),
            (0b01, "-1", 0, .kept, 0b01), (0b01, "+0", 0, .equal, 0b01), (0b10, "+0", 0, .equal, 0b11),
            (0, "-0", 0, .kept, 0b10), (0, "+1", 0, .equal, 0b11), (0b11, nil, 0b01, .kept, 0b10),
            (0b01, nil, 0b01, .absent, 0), (0b10, nil, 0b01, .kept, 0b10), (0, nil, 0b01, .kept, 0b10),
            (0, nil, 0b11, .absent, 0), (0b01, "+0", 0b01, .equal, 0b01), (0b11, "+1", 0b11, .equal, 0b10),
        ] as [(FeedSet, String?, FeedSet, Outcome, FeedSet)])
    func `a record stays until its last feed has gone`(_ row: (FeedSet, String?, FeedSet, Outcome, FeedSet)) {
        var known = Before.same.known
        known.feeds = row.0
        var rules = RecordVerdict.Rules()
        rules.allFeeds = 0b11
        rules.comparedFeeds = row.2
        let verdict = RecordVerdict(known, Self.group(row.1), rules: rules)
        #expect(verdict.outcome == row.3 && verdict.feeds == row.4)
    }

    /// Two feeds, and a record that only a push has named: the lines; then the outcome and the feeds that are left.
    @Test(
        arguments: [
            ("+0", .updated, 0b01), ("+1", .updated, 0b10), ("+0 +1", .updated, 0b11), ("-0", .deleted, 0),
            ("-0 +1", .updated, 0b10), ("+1 -0", .updated, 0b10), (nil, .kept, 0b11),
        ] as [(String?, Outcome, FeedSet)])
    func `14: of a record that only a push has named the stream says by which feeds it is there`(
        _ row: (String?, Outcome, FeedSet)
    ) {
        var rules = RecordVerdict.Rules()
        rules.allFeeds = 0b11
        var stored = Before.untrusted.known
        stored.isUnplaced = true
        for known in [Before.notedUnknown.known, stored] {
            let verdict = RecordVerdict(known, Self.group(row.0), rules: rules)
            #expect(verdict.outcome == row.1 && verdict.feeds == row.2)
        }
        // What the ledger has of it came by feeds of its own.
        #expect(RecordVerdict(Before.notedSame.known, Self.group("+0"), rules: rules).feeds == 0b11)
        rules.isExact = false
        #expect(RecordVerdict(Before.notedUnknown.known, Self.group("+0"), rules: rules).feeds == 0b11)
    }

    static func withParents(_ change: (inout RecordVerdict.Rules) -> Void) -> RecordVerdict.Rules {
        var rules = RecordVerdict.Rules()
        change(&rules)
        return rules
    }

    @Test func `a record goes with its parent unless it came itself or was only seen`() {
        let rules = Self.withParents { $0.goneParents = [.init(link: 0, records: [7: .init()])] }
        for (before, expected) in [(Before.same, Outcome.descendant), (.seen, .untouched), (.tombstone, .untouched)] {
            var known = before.known
            known.links = [7]
            #expect(RecordVerdict(known, nil, rules: rules).outcome == expected)
            #expect(RecordVerdict(known, Self.group("+", links: [7]), rules: rules).outcome != .descendant)
            known.links = [8]
            #expect(RecordVerdict(known, nil, rules: rules).outcome != .descendant)
        }
    }

    @Test func `a record that came in an earlier request than its parent's end goes with it`() {
        let rules = Self.withParents { $0.goneParents = [.init(link: 0, records: [7: .init(began: 4)])] }
        var known = Before.same.known
        known.links = [7]
        let verdict = RecordVerdict(known, Self.group("+", links: [7]), rules: rules)
        #expect(verdict.outcome == .descendant && verdict.parent?.began == 4)
        #expect(RecordVerdict(KnownRecord(), Self.group("+", links: [7]), rules: rules).outcome == .untouched)
        #expect(RecordVerdict(known, Self.group("+ + + + +", links: [7]), rules: rules).outcome == .equal)
    }

    @Test func `a record whose parent went and came again is missing until it comes`() {
        let rules = Self.withParents { $0.returnedParents = [.init(link: 0, records: [7: 0])] }
        var known = Before.same.known
        known.links = [7]
        #expect(RecordVerdict(known, nil, rules: rules).outcome == .absent)
        #expect(RecordVerdict(known, Self.group("+", links: [7]), rules: rules).outcome == .equal)
    }

    @Test func `a record that came before its parent went and came again stays, and is compared`() {
        let rules = Self.withParents { $0.returnedParents = [.init(link: 0, records: [7: 4])] }
        var known = Before.same.known
        known.links = [7]
        let verdict = RecordVerdict(known, Self.group("+", links: [7]), rules: rules)
        #expect(verdict.outcome == .equal && verdict.isDoubtful)
        let later = RecordVerdict(known, Self.group("+ + + + +", links: [7]), rules: rules)
        #expect(later.outcome == .equal && !later.isDoubtful)
    }

    @Test func `a line that deletes by a column takes what came before it and nothing that came after`() {
        var rules = RecordVerdict.Rules()
        rules.deletions = [.init(link: 0, feed: 1, lines: [7: .init(ordered: 2)])]
        var known = Before.same.known
        known.links = [7]
        #expect(RecordVerdict(known, nil, rules: rules).outcome == .deleted)
        #expect(RecordVerdict(known, Self.group("+", links: [7]), rules: rules).outcome == .deleted)
        #expect(RecordVerdict(known, Self.group("- - +", links: [7]), rules: rules).outcome == .equal)
        // By its new value it is not meant any more.
        #expect(RecordVerdict(known, Self.group("+", links: [8]), rules: rules).outcome == .equal)
        #expect(RecordVerdict(KnownRecord(), Self.group("+", links: [7]), rules: rules).outcome == .untouched)
    }

    /// The deletion is the fifth line; a request begins behind the first, and a part of it behind the third.
    @Test(
        arguments: [
            ("+", .deleted, false), ("- +", .deleted, true), ("- - +", .deleted, true), ("- - - +", .equal, true),
            ("- - - - - +", .equal, false), ("-", .deleted, false),
        ] as [(String, RecordVerdict.Outcome, Bool)])
    func `a row of another namespace counts against a later deletion by column, as against one of its record`(
        lines: String, outcome: RecordVerdict.Outcome, isDoubtful: Bool
    ) {
        var signs = StreamSigns()
        signs.beginRequest(after: 0)
        signs.beginRequest(after: 1)
        signs.beginRequest(after: 3, isResumed: true)
        let link = StreamSigns.Link(table: 0, link: 0, feed: 0)
        signs.delete(link, digest: 7, sequence: 5, isOrdered: false)
        var rules = RecordVerdict.Rules()
        rules.deletions = [.init(link: 0, feed: 1, lines: signs.deletions[link] ?? [:])]
        var known = Before.same.known
        known.links = [7]
        let verdict = RecordVerdict(known, Self.group(lines, links: [7]), rules: rules)
        #expect(verdict.outcome == outcome && verdict.isDoubtful == isDoubtful)
        signs.delete(link, digest: 7, sequence: 5, isOrdered: true)
        rules.deletions[0].lines = signs.deletions[link] ?? [:]
        let ordered = RecordVerdict(known, Self.group(lines, links: [7]), rules: rules)
        #expect(ordered.outcome == (lines.hasSuffix("- +") && lines.count > 10 ? .equal : .deleted))
        #expect(!ordered.isDoubtful)
    }

    /// Two feeds, of which the second deletes with the third line: what was held before, the lines, the feeds left.
    @Test(
        arguments: [
            (0b11, nil, 0b01), (0b10, nil, 0), (0b10, "+0", 0b01), (0b10, "+1", 0), (0b10, "+1 +1 +1 +1", 0b10),
            (0, "+1 +0", 0b01), (0, "+1 +0 +0 +0", 0b01), (0, "+0 +0 +0 +1 +0", 0b11), (0, "+0 +1 +0 +1 +0", 0b11),
            (0, "+0 +1 +0 +0 +0", 0b01), (0b10, "+0 +0 +0 +0", 0b01),
        ] as [(FeedSet, String?, FeedSet)])
    func `a line that deletes by a column takes its own feed, unless that brought the record later`(
        _ row: (FeedSet, String?, FeedSet)
    ) {
        var rules = RecordVerdict.Rules()
        rules.allFeeds = 0b11
        rules.deletions = [.init(link: 0, feed: 0b10, lines: [7: .init(ordered: 3)])]
        var known = row.0 == 0 ? KnownRecord() : Before.same.known
        known.feeds = row.0
        known.links = row.0 == 0 ? [] : [7]
        #expect(RecordVerdict(known, Self.group(row.1, links: [7]), rules: rules).feeds == row.2)
    }
}
