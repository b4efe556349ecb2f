// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncModel

/// The decision on one record at the end of a stream, made on the record's final state.
struct RecordVerdict: Hashable {
    /// The outcomes for the client.
    enum Outcome: Hashable {
        /// No change: nothing is sent.
        case untouched
        /// The record is new to the device.
        case created
        /// The record may already be on the device.
        case updated
        /// The device has the record as it is.
        case equal
        /// The record still exists, though a feed may have gone.
        case kept
        /// The record is gone, because a line says so.
        case deleted
        /// The record is gone with its parent.
        case descendant
        /// The record did not come although everything did.
        case absent
        /// The record was deleted before, and it is uncertain whether the device has heard of that.
        case deletedAgain
    }

    /// The outcome for the client.
    var outcome: Outcome
    /// The feeds that the record comes by now.
    var feeds: FeedSet = []
    /// The departure of the record's parent, if the record goes with it.
    var parent: Departure?
    /// True if the stream contradicts itself about the record, or if it stays although its parent may have gone after
    /// it came, in a later part of the stream.
    var isDoubtful = false

    /// The departure of a record whose children go with it.
    struct Departure: Hashable {
        /// The number of lines that had come before the stream request that brought the deletion; 0 if none did.
        ///
        /// Children that came in an earlier request are gone with the record; those of the same one exist in spite of
        /// it.
        var began: UInt64 = 0
        /// The number of lines that had come before the part of that request, if it broke and was resumed; at least as
        /// great.
        ///
        /// A child that came in an earlier part of the request may or may not be gone: only a comparison can tell
        /// (finding 16).
        var resumed: UInt64 = 0
        /// True if no line says so: the record, or one that it went with, did not come although everything did.
        var isAbsent = false

        /// Returns true if a child goes with the record; `sequence` is the number of the line that brought the child, 0
        /// if none did.
        func takesAlong(_ sequence: UInt64) -> Bool { began >= sequence }

        /// Returns the combination of two departures of one record, or of two with the same digest: the later and more
        /// certain counts.
        func merged(with other: Departure) -> Departure {
            Departure(
                began: max(began, other.began), resumed: max(resumed, other.resumed),
                isAbsent: isAbsent && other.isAbsent)
        }
    }

    /// True if the record is gone and no line says so, neither of the record nor of one that it goes with (finding 28).
    var isAbsent: Bool { outcome == .absent || outcome == .descendant && parent?.isAbsent == true }

    /// The rules under which the records of one table are judged.
    struct Rules {
        /// True if this is a client's first pull.
        var isFirst = false
        /// True if what is known is exactly what the device has.
        var isExact = true
        /// True if the client has only just gained the table, so that nothing in its ledger is believed.
        var isRenewed = false
        /// True if the table's rows are fetched again for a client that has gained the table or columns of it.
        var isFetched = false
        /// True if the device certainly has nothing of a renewed table.
        var isEmpty = false
        /// True if the ledger has seen all of the table once, and every change since.
        var isTracked = true
        /// The feeds that the ledger has seen in full once, with every change since.
        var trackedFeeds = FeedSet.all
        /// All feeds of the table.
        var allFeeds = FeedSet(feed: 0)
        /// The feeds that came in full.
        var comparedFeeds: FeedSet = []
        /// The feeds that the backend currently refuses.
        var refusedFeeds: FeedSet = []
        var isRefused: Bool { !refusedFeeds.isEmpty }
        /// True if a difference that only a comparison finds is a gap in the backend's stream.
        var isAudited = false
        /// The deletions by the value of a link.
        var deletions: [LinkDeletions] = []
        /// The parents that are gone; the next list has those that went and came again, with the number of lines that
        /// had come before the part of the stream that said so.
        var goneParents: [Parents<[UInt64: Departure]>] = []
        var returnedParents: [Parents<[UInt64: UInt64]>] = []
    }

    /// Parents by their digests; the storage is shared with the ``MovedParents`` that they come from.
    struct Parents<Records> {
        /// The index of the link that names them.
        var link: Int
        var records: Records
    }

    /// The values of one link that delete lines of one feed have named.
    struct LinkDeletions {
        /// The index of the link.
        var link: Int
        /// The feed, as a set.
        var feed: FeedSet
        /// The deletions by the digest of the value.
        var lines: [UInt64: StreamSigns.LinkDeletion]
    }

    /// Returns true if the ledger's hash of a record that came by these feeds is that of the content on the device.
    ///
    /// The device may have received something else by a feed that was not compared since its table was without a
    /// ledger.
    static func isTrusted(_ feeds: FeedSet, _ rules: Rules) -> Bool {
        rules.isExact && !(feeds.isEmpty ? rules.allFeeds : feeds).isDisjoint(with: rules.trackedFeeds)
    }

    /// Judges a record.
    ///
    /// - Parameters:
    ///   - known: The record as it was known before.
    ///   - group: The lines of the stream for the record; nil if there are none.
    ///   - rules: The rules of the record's table.
    init(_ known: KnownRecord, _ group: RecordGroup?, rules: Rules) {
        let isHeld = known.state == .held
        let added = group?.added ?? []
        let before = isHeld && !Self.isPlaced(known, by: group, rules: rules) ? Self.feeds(of: known, rules) : []
        feeds = before.subtracting(rules.comparedFeeds).intersection(group?.remaining ?? .all).union(added)
        let upsert = group?.upsert
        let links = upsert == nil ? known.links : group?.links ?? []
        var (isNamed, isContradicted) = (group?.deletion != nil, group?.isContested == true)
        for deletions in rules.deletions where deletions.link < links.count {
            guard let line = deletions.lines[links[deletions.link]] else { continue }
            let row = group?.lastUpsert(by: deletions.feed) ?? 0
            isContradicted = isContradicted || line.contradicts(row)
            guard !line.spares(row) else { continue }
            feeds.subtract(deletions.feed)
            isNamed = true
        }
        outcome = .untouched
        if upsert == nil, isHeld, !feeds.isEmpty {
            if let departure = Self.parentGone(links, rules, since: 0) {
                parent = departure
                outcome = .descendant
                feeds = []
            } else {
                let isLeft = rules.returnedParents.contains {
                    $0.link < links.count && $0.records[links[$0.link]] != nil
                }
                outcome = isLeft ? .absent : .kept
            }
        } else if !feeds.isEmpty, let upsert,
            let departure = Self.parentGone(links, rules, since: upsert.sequence)
        {
            parent = departure
            let wasThere = isHeld || known.state == .seen
            outcome = wasThere && !rules.isFirst ? .descendant : .untouched
            feeds = []
        } else if !feeds.isEmpty, let upsert {
            outcome = Self.delivery(of: upsert, known, rules)
            isDoubtful = Self.mayHaveGone(links, rules, since: upsert.sequence)
        } else {
            outcome = Self.end(known, isNamed: isNamed, rules)
        }
        isDoubtful = isDoubtful || isContradicted
    }

    /// Returns the feeds that a held record came by; all of them if they are unknown.
    private static func feeds(of known: KnownRecord, _ rules: Rules) -> FeedSet {
        known.feeds.isEmpty ? rules.allFeeds : known.feeds
    }

    /// Returns true if the stream alone says by which feeds a record exists: only pushes have named the record so far,
    /// so every feed that has it brings a line of its own (finding 14).
    private static func isPlaced(_ known: KnownRecord, by group: RecordGroup?, rules: Rules) -> Bool {
        guard known.isUnplaced, rules.isExact, rules.isTracked, let group else { return false }
        return !group.added.isEmpty || group.deletion != nil
    }

    /// Returns the combined departure of all parents that take along a record whose line came as number `sequence` (0:
    /// none came); nil if there is none.
    static func parentGone(_ links: [UInt64], _ rules: Rules, since sequence: UInt64) -> Departure? {
        var found: Departure?
        for parents in rules.goneParents where parents.link < links.count {
            guard let departure = parents.records[links[parents.link]], departure.takesAlong(sequence) else { continue }
            found = found?.merged(with: departure) ?? departure
        }
        return found
    }

    /// Returns true if a parent may have taken along a record whose line came: the parent went in a later part of the
    /// stream, for good or to come again, or it is missing, and no line says when it went (finding 16).
    private static func mayHaveGone(_ links: [UInt64], _ rules: Rules, since sequence: UInt64) -> Bool {
        func isLater(_ began: UInt64?) -> Bool { began ?? 0 >= sequence }
        return rules.goneParents.contains {
            guard $0.link < links.count, let departure = $0.records[links[$0.link]] else { return false }
            return departure.isAbsent || isLater(departure.resumed)
        }
            || rules.returnedParents.contains {
                $0.link < links.count && isLater($0.records[links[$0.link]])
            }
    }

    /// Judges a record that exists and whose row came.
    private static func delivery(of upsert: DeduplicationEntry, _ known: KnownRecord, _ rules: Rules) -> Outcome {
        if rules.isFirst { return .created }
        if rules.isRenewed { return rules.isExact && rules.isEmpty && !known.isNoted ? .created : .updated }
        let isCertain = rules.isExact && rules.isTracked && !known.isNoted
        switch known.state {
        case nil, .unknown?, .tombstone?: return isCertain ? .created : .updated
        case .seen?: return .updated
        case .held?:
            let isTrusted = isTrusted(known.feeds, rules) && !known.isNoted
            return isTrusted && known.content == upsert.content && !upsert.bringsAddedColumns ? .equal : .updated
        }
    }

    /// Judges a record that does not exist any more, or never did.
    private static func end(_ known: KnownRecord, isNamed: Bool, _ rules: Rules) -> Outcome {
        if rules.isFirst { return .untouched }
        switch (known.state, isNamed) {
        case (nil, true), (.unknown?, true):
            return rules.isExact && (rules.isTracked || rules.isEmpty) ? .untouched : .deleted
        // A deletion of a record that was deleted before is passed on: this device may be one that has not heard
        // (finding 9).
        case (_, true): return .deleted
        case (.held?, false): return .absent
        case (.tombstone?, false):
            let isJudged = rules.comparedFeeds == rules.allFeeds || rules.isRefused
            return !rules.isExact && isJudged ? .deletedAgain : .untouched
        case (_, false): return .untouched
        }
    }
}
