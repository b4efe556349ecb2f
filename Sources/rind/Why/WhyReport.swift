// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import Ledger
import SQLiteState
import StateStore
import SyncModel

/// The known facts about a record on a device.
struct WhyReport {
    /// The verdict; the raw value is the stable word.
    enum Verdict: String {
        /// The ledger says that the device holds it.
        case held
        /// It is in an answer that has not come back yet.
        case pending
        /// The device was told to delete it.
        case deleted
        /// A push has named it, and nothing is known but that.
        case pushed
        /// It never came.
        case absent
        /// Unknown, because no ledger is kept.
        case unknown
    }

    let row: ReplicaRow
    let table: Table
    let id: String
    let finding: RecordFinding

    /// The entry that counts.
    var entry: LedgerEntry? { finding.sights.first?.entry }

    /// The verdict.
    var verdict: Verdict {
        guard finding.hasLedger else { return .unknown }
        switch entry?.state {
        case .held: return finding.isPending ? .pending : .held
        case .tombstone: return .deleted
        case .seen: return .pushed
        case .unknown, nil: return finding.isNoteNew ? .pushed : .absent
        }
    }

    /// True if the device holds the record; nil if that is unknown.
    var holds: Bool? {
        guard finding.isExact, !finding.isPending else { return nil }
        switch verdict {
        case .held: return finding.isNoteNew && finding.note?.state == .gone ? nil : true
        case .deleted, .absent: return finding.isNoteNew ? nil : false
        case .pending, .pushed, .unknown: return nil
        }
    }

    /// The feeds that have brought it, by the names of their newest request types.
    var feeds: [String] {
        guard let sight = finding.sights.first, sight.hasPresentShape, sight.entry.state == .held else { return [] }
        return table.feeds.enumerated().compactMap { index, feed in
            sight.entry.feeds.contains(FeedSet(feed: index)) ? feed.versions.last?.requestType : nil
        }
    }

    /// Returns 16 digits.
    static func hexadecimal(_ digest: UInt64) -> String {
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Returns the stable word for a state.
    static func word(_ state: LedgerState) -> String {
        switch state {
        case .held: "held"
        case .tombstone: "deleted"
        case .seen: "seen"
        case .unknown: "absent"
        }
    }
}

extension WhyReport {
    /// Looks a record up in all that the state keeps about a replica.
    init(
        _ id: String, in table: Table, of row: ReplicaRow, configuration: Configuration, store: CommandState
    ) async throws {
        self.row = row
        self.table = table
        self.id = id
        finding = try await LedgerInspector(configuration: configuration, store: store).find(id, in: table, of: row)
    }
}
