// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncModel

/// The verdict on one record at the end of a stream, decided on its final state.
struct RecordVerdict: Hashable {
    /// The change for the client.
    enum Outcome: Hashable {
        /// No change.
        case untouched
        /// It is new to the device.
        case created
        /// It may be there already.
        case updated
        /// The device has it as it is.
        case equal
        /// It is still there, though a source may have gone.
        case kept
        /// It is gone, because a line says so.
        case deleted
        /// It is gone with its parent.
        case descendant
        /// It did not come although everything did.
        case absent
        /// It was deleted before, and whether the device has heard of it is not certain.
        case deletedAgain
    }

    /// The change for the client.
    var outcome: Outcome
    /// The feeds that it comes by now.
    var sources: UInt64 = 0
    /// The departure of its parent, if the record goes with it.
    var parent: Departure?
    /// True if it stays although its parent may have gone after it came, in a later part of the stream.
    var isDoubtful = false

    /// The departure of a record whose children go with it.
    struct Departure: Hashable {
        /// The number of lines before the stream request that brought the deletion; 0 if none did.
        ///
        /// Children that came in an earlier request are gone with it; those of the same request exist in spite of it.
        var began: UInt64 = 0
        /// The same of the part of that request, where it broke and was taken up again; at least as great.
        ///
        /// What came in an earlier part of the request may be gone or not: only a comparison can tell (finding 16).
        var resumed: UInt64 = 0
        /// True if no line says so: the record, or its ancestor, did not come although everything did.
        var isAbsent = false

        /// Returns true if a child goes with it that the line of this number brought; 0 for no line.
        func takesAlong(_ sequence: UInt64) -> Bool { began >= sequence }

        /// Merges two departures of the same record, or of another with the same digest: the later and the certain one
        /// counts.
        func merged(with other: Departure) -> Departure {
            Departure(
                began: max(began, other.began), resumed: max(resumed, other.resumed),
                isAbsent: isAbsent && other.isAbsent)
        }
    }

    /// True if the record is gone and no line says so, neither of it nor of its ancestor (finding 28).
    var isAbsent: Bool { outcome == .absent || outcome == .descendant && parent?.isAbsent == true }

    /// The rules under which the records of one table are judged.
    struct Rules {
        /// True if this is a client's first pull.
        var isFirst = false
        /// True if the ledger is exactly what the device has.
        var isExact = true
        /// True if the client has only just got the table, so that the ledger's entries of it are not trusted.
        var isRenewed = false
        /// True if its rows are fetched anew for a client that has got the table, or columns of it.
        var isFetched = false
        /// True if the device then has nothing of the table.
        var isEmpty = false
        /// True if the ledger has seen all of the table once, and every change since.
        var isTracked = true
        /// The feeds of which the ledger has seen everything.
        var trackedSources = UInt64.max
        /// All feeds of the table, and those that came completely.
        var allSources: UInt64 = 1
        var comparedSources: UInt64 = 0
        /// The feeds that the backend does not take for now, and whether there are any.
        var refusedSources: UInt64 = 0
        var isRefused: Bool { refusedSources != 0 }
        /// True if a difference that only a comparison finds is a gap in the backend's stream.
        var isAudited = false
        /// Deletions by the value of a link.
        var deletions: [LinkDeletions] = []
        /// The parents that are gone, and those that went and came again, with the number of lines that had come
        /// before the part of the stream that said so.
        var goneParents: [Parents<[UInt64: Departure]>] = []
        var returnedParents: [Parents<[UInt64: UInt64]>] = []
    }

    /// Parents by their digests, shared with whoever has found them.
    struct Parents<Records> {
        /// The index of the link that names them.
        var link: Int
        var records: Records
    }

    /// The deletions by delete lines of one feed through one link.
    struct LinkDeletions {
        /// The index of the link.
        var link: Int
        /// The source as a bit of a mask.
        var source: UInt64
        /// The number in the stream of the newest line, by the digest of the value.
        var sequences: [UInt64: UInt64]
    }

    /// Returns true if the hash of a record that came by these feeds is that of the device's row.
    ///
    /// By a feed that was not compared since its table had no ledger, the device may have got another row.
    static func isTrusted(_ sources: UInt64, _ rules: Rules) -> Bool {
        rules.isExact && (sources == 0 ? rules.allSources : sources) & rules.trackedSources != 0
    }

    /// Judges a record.
    ///
    /// - Parameters:
    ///   - known: The record before the stream.
    ///   - group: The stream's lines about it; nil if there are none.
    ///   - rules: The rules of its table.
    init(_ known: KnownRecord, _ group: RecordGroup?, rules: Rules) {
        let isHeld = known.state == .held
        let added = group?.add ?? 0
        let before = isHeld && !Self.isPlaced(known, by: group, rules: rules) ? Self.sources(of: known, rules) : 0
        sources = (before & ~rules.comparedSources) & (group?.keep ?? .max) | added
        let upsert = group?.upsert
        let links = upsert == nil ? known.links : group?.links ?? []
        var isNamed = group?.deletion != nil
        for deletions in rules.deletions where deletions.link < links.count {
            guard let sequence = deletions.sequences[links[deletions.link]],
                sequence > group?.lastUpsert(by: deletions.source) ?? 0
            else { continue }
            sources &= ~deletions.source
            isNamed = true
        }
        outcome = .untouched
        if upsert == nil, isHeld, sources != 0 {
            if let departure = Self.parentGone(links, rules, since: 0) {
                parent = departure
                outcome = .descendant
                sources = 0
            } else {
                let isLeft = rules.returnedParents.contains {
                    $0.link < links.count && $0.records[links[$0.link]] != nil
                }
                outcome = isLeft ? .absent : .kept
            }
        } else if sources != 0, let upsert,
            let departure = Self.parentGone(links, rules, since: upsert.sequence)
        {
            parent = departure
            let wasThere = isHeld || known.state == .seen
            outcome = wasThere && !rules.isFirst ? .descendant : .untouched
            sources = 0
        } else if sources != 0, let upsert {
            outcome = Self.delivery(of: upsert, known, rules)
            isDoubtful = Self.mayHaveGone(links, rules, since: upsert.sequence)
        } else {
            outcome = Self.end(known, isNamed: isNamed, rules)
        }
    }

    /// Returns the feeds that a held record came by; all of them if they are unknown.
    private static func sources(of known: KnownRecord, _ rules: Rules) -> UInt64 {
        known.sources == 0 ? rules.allSources : known.sources
    }

    /// Returns true if the stream alone says by which feeds a record is there: only a push has named it so far, so that
    /// every feed that has it brings a line of its own (finding 14).
    private static func isPlaced(_ known: KnownRecord, by group: RecordGroup?, rules: Rules) -> Bool {
        guard known.isNoted, !known.wasHeld, rules.isExact, rules.isTracked, let group else { return false }
        return group.add != 0 || group.deletion != nil
    }

    /// Returns the departure of the parents that take along a record with a line of this number (0: none); nil if no
    /// parent has gone.
    private static func parentGone(_ links: [UInt64], _ rules: Rules, since sequence: UInt64) -> Departure? {
        var found: Departure?
        for parents in rules.goneParents where parents.link < links.count {
            guard let departure = parents.records[links[parents.link]], departure.takesAlong(sequence) else { continue }
            found = found?.merged(with: departure) ?? departure
        }
        return found
    }

    /// Returns true if a parent may have taken along a record whose line came before: it went in a later part of the
    /// stream, for good or to come again (finding 16).
    private static func mayHaveGone(_ links: [UInt64], _ rules: Rules, since sequence: UInt64) -> Bool {
        func isLater(_ began: UInt64?) -> Bool { began ?? 0 >= sequence }
        return rules.goneParents.contains {
            $0.link < links.count && isLater($0.records[links[$0.link]]?.resumed)
        }
            || rules.returnedParents.contains {
                $0.link < links.count && isLater($0.records[links[$0.link]])
            }
    }

    /// Judges a record that is there and whose row came.
    private static func delivery(of upsert: DeduplicationEntry, _ known: KnownRecord, _ rules: Rules) -> Outcome {
        if rules.isFirst { return .created }
        if rules.isRenewed { return rules.isExact && rules.isEmpty && !known.isNoted ? .created : .updated }
        let isCertain = rules.isExact && rules.isTracked && !known.isNoted
        switch known.state {
        case nil, .unknown?, .tombstone?: return isCertain ? .created : .updated
        case .seen?: return .updated
        case .held?:
            let isTrusted = isTrusted(known.sources, rules) && !known.isNoted
            return isTrusted && known.content == upsert.content && !upsert.bringsAddedColumns ? .equal : .updated
        }
    }

    /// Judges a record that is no longer there, or never was.
    private static func end(_ known: KnownRecord, isNamed: Bool, _ rules: Rules) -> Outcome {
        if rules.isFirst { return .untouched }
        switch (known.state, isNamed) {
        case (nil, true), (.unknown?, true):
            return rules.isExact && (rules.isTracked || rules.isEmpty) ? .untouched : .deleted
        // A deletion of what was deleted before is passed on: the device may be one that has not heard (finding 9).
        case (_, true): return .deleted
        case (.held?, false): return .absent
        case (.tombstone?, false):
            let isJudged = rules.comparedSources == rules.allSources || rules.isRefused
            return !rules.isExact && isJudged ? .deletedAgain : .untouched
        case (_, false): return .untouched
        }
    }
}
