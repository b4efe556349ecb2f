// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Ledger
import StateStore
import SyncModel

extension WhyReport {
    /// All that is to be said, the answer first.
    var sentences: [String] {
        [answer, exactness, heldBackSentence, contentSentence, feedSentence].compactMap { $0 }
            + finding.parents.map(sentence)
            + idSentences + [noteSentence, refusalSentence].compactMap { $0 } + quarantineSentences
    }

    private var answer: String {
        guard finding.hasLedger else {
            return table.isLedgered
                ? "The replica has no ledger yet: its next pull makes one. What the device holds is not known."
                : "The table is without a ledger by the configuration: what the device holds is not known."
        }
        guard let sight = finding.sights.first, sight.entry.state != .unknown else { return absence }
        let since = Self.since(sight.origin)
        switch sight.entry.state {
        case .held where finding.isPending:
            return "It went out \(since), which has not come back yet: the device has it once it presents that cursor."
        case .held where sight.entry.isDefaulted:
            return
                "The device holds it with a default in place of a value that could not be read: it came, or came last, "
                + "\(since). Such a default is not sent back to the backend."
        case .held: return "The device holds it: it came, or came last, \(since)."
        case .tombstone where finding.isPending:
            return "Its deletion went out \(since), which has not come back yet."
        case .tombstone:
            return "The device does not hold it: its deletion went out \(since), at "
                + "\(MomentText.seconds(sight.entry.goneAt))."
        case .seen, .unknown:
            return "A push has named it \(since), and it has never come from the backend: absence does not delete it."
        }
    }

    private var absence: String {
        if finding.isNoteNew { return "It has never come from the backend, but a push has named it." }
        if finding.quarantined.contains(where: { !$0.line.reason.isDelivered }) {
            return "It has never come to this device: its line is in quarantine."
        }
        return
            "Nothing of it ever went out to this device, as far as the ledger goes back: no line of it was streamed, "
            + "or it was gone again by the end of the same stream."
    }

    private var exactness: String? {
        guard finding.hasLedger, !finding.isExact else { return nil }
        return "The ledger is not exact at the device's cursor: the device may hold less. Its next pull compares all."
    }

    /// The operator of a device that keeps too much comes here first.
    private var heldBackSentence: String? {
        let version = row.schemaVersion ?? .max
        let types = table.feeds.compactMap { $0.version(at: version)?.requestType }
        guard entry?.state == .held, let type = types.first(where: row.blocked.contains) else { return nil }
        return
            "Deletions of \(type) are held back from this device, and this may be one of them: 'rind replicas accept' "
            + "releases them."
    }

    private var contentSentence: String? {
        guard let entry, entry.state == .held else { return nil }
        guard let content = entry.content else {
            return "Which content it has is not known: its next line goes out in 'updated'."
        }
        // Of a line that was dropped nothing is kept, not even that it came.
        return
            "Its content has the digest \(Self.hexadecimal(content)), delivered with that cursor or before it, and "
            + "nothing of it has gone out since. "
            + (finding.isNoteNew
                ? "Its next line counts as the echo of a push, and goes out whatever it says."
                : "A line with the same content is dropped as equal.")
    }

    private var feedSentence: String? {
        guard let entry, entry.state == .held, table.feeds.count > 1 else { return nil }
        guard !feeds.isEmpty else { return "Through which feeds it came is not known." }
        return "It came through \(feeds.joined(separator: ", ")), and stays until the last of them has let it go."
    }

    private func sentence(_ parent: RecordFinding.Parent) -> String {
        let digest = Self.hexadecimal(parent.digest)
        guard let table = parent.table else {
            return "Delete lines find it by \(parent.column), whose value has the digest \(digest)."
        }
        guard let id = parent.id else {
            return "Its \(parent.column) names a record of \(table) that has never come to this device "
                + "(digest \(digest))."
        }
        return "Its \(parent.column) names \(table) \(id), which the device "
            + (parent.isHeld
                ? entry?.state == .tombstone ? "holds." : "holds: if that one is deleted, so is this."
                : "does not hold.")
    }

    private var noteSentence: String? {
        guard let note = finding.note else { return nil }
        let what =
            switch note.state {
            case .seen: "A device of the same principal has pushed it, and whether the backend took it is unknown"
            case .refused:
                "A device of the same principal has pushed it, and the backend refused it: it was quarantined"
            case .held: "A device of the same principal has pushed it, and the backend took it"
            case .gone: "A device of the same principal has pushed its deletion, and the backend took it"
            }
        return what
            + (finding.isNoteNew
                ? "; that was after this cursor, so the next line of it counts as the echo and goes out in 'updated'."
                : "; that was before this cursor, which has seen what came of it.")
    }

    private var refusalSentence: String? {
        guard let refusal = finding.refusal else { return nil }
        let isTaken = finding.note?.state == .held || finding.note?.state == .gone
        let times = refusal.count > 1 ? " \(refusal.count) times, last" : ""
        return "A pushed \(refusal.operation.kind.rawValue) of it was refused\(times) at "
            + "\(MomentText.seconds(refusal.lastAt)): \(refusal.operation.explanation.shown(upTo: 500))"
            + (isTaken ? "; before that or since, the backend has taken a push of it." : ".")
    }

    private var quarantineSentences: [String] {
        var sentences = finding.quarantined.prefix(5).map { entry in
            (entry.line.reason.isDelivered
                ? "A value of it could not be read, so it went out with a default "
                    + "(\(String(decoding: entry.line.bytes, as: UTF8.self).shown(upTo: 200))): it came "
                : "A line of it is in quarantine (\(entry.line.reason.rawValue)): it came ")
                + (entry.count == 1 ? "once" : "\(entry.count) times, first at \(MomentText.seconds(entry.firstSeen))")
                + ", last at \(MomentText.seconds(entry.lastSeen)) for \(entry.principal)."
                + (entry.line.reason.isDelivered && self.entry?.isDefaulted == false
                    ? " The row that the device has now has no such value." : "")
        }
        if finding.unreadable > 0 {
            sentences.append(
                "In quarantine are \(finding.unreadable) more of the table whose id could not be read; one may be its.")
        }
        return sentences
    }

    /// Every entry of the ledger, where there are several.
    var history: [String] {
        guard finding.sights.count > 1 else { return [] }
        return ["", "What the ledger has of it, the newest first:"]
            + finding.sights.map { sight in
                let content = sight.entry.content.map { " " + Self.hexadecimal($0) } ?? ""
                return "  " + Self.word(sight.entry.state).padded(to: 8) + Self.since(sight.origin) + content
            }
    }

    private static func since(_ origin: RecordFinding.Sight.Origin) -> String {
        switch origin {
        case .cursor(let cursor): "with the cursor \(MomentText.cursor(cursor))"
        case .base(let cursor): "with the cursor \(MomentText.cursor(cursor)) or an older one"
        case .before(let cursor): "before the cursor \(MomentText.cursor(cursor))"
        }
    }
}
