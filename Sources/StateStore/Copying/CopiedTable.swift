// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The tables of a state as every kind of store can copy them, in an order in which each follows those that it needs.
///
/// Only what is the same in all stores is copied: principals and sessions are named by their digests, and what is
/// stored once for many rows is part of each row. Positions of sessions are not copied, as every start of a gateway on
/// a file forgets them: the backend is asked again. `docs/STATE.md` explains the columns.
package enum CopiedTable: String, CaseIterable, Sendable {
    case meta, principal, session, receipt, replica
    case layer
    case layerCount = "layer_count"
    case chunk, cursor, owed
    case deviceTrouble = "device_trouble"
    case pushNote = "push_note"
    case idMap = "id_map"
    case pushRefusal = "push_refusal"
    case pushJournal = "push_journal"
    case pushFlight = "push_flight"
    case quarantine
    case pushQuarantine = "push_quarantine"

    /// A column with the kind of its values, any of which may be NULL.
    package enum Column: Hashable, Sendable {
        case integer(String)
        case text(String)
        case bytes(String)
        /// A truth value; 0 or 1 in a row.
        case bool(String)

        /// The column's name.
        package var name: String {
            switch self {
            case .integer(let name), .text(let name), .bytes(let name), .bool(let name): name
            }
        }
    }

    /// The entries of `meta` that belong to one store or one process and are not copied.
    package static let ownEntries = ["probe", "version", "compatible_from", "collected_by", unfinishedMark]

    /// The entry of `meta` that a target has until everything is in it.
    package static let unfinishedMark = "copying"

    /// The number of columns at the beginning that identify a row, in the order in which rows are copied.
    ///
    /// Every store can find the rows after a key by an index, and compares texts and bytes byte by byte.
    package var keyCount: Int {
        switch self {
        case .meta, .principal, .replica, .layer, .chunk, .pushJournal, .quarantine, .pushQuarantine: 1
        case .session, .receipt, .cursor, .layerCount, .deviceTrouble, .pushFlight: 2
        case .owed, .pushNote, .idMap, .pushRefusal: 3
        }
    }

    /// The number of rows that are read, and written in one transaction.
    package var pageSize: Int {
        switch self {
        case .chunk: 100
        case .receipt, .pushFlight, .quarantine, .pushQuarantine: 20
        default: 1_000
        }
    }

    /// The column whose values the store counts up; no value is given twice.
    package var numbered: String? {
        switch self {
        case .layer, .chunk, .pushJournal, .quarantine, .pushQuarantine: "id"
        case .receipt: "number"
        default: nil
        }
    }
}

extension CopiedTable {
    /// The columns.
    package var columns: [Column] {
        switch self {
        case .meta: [.text("key"), .integer("value")]
        case .principal:
            [
                .text("principal"), .integer("newest"), .integer("sequence"), .integer("id_sequence"),
                .integer("last_seen"), .text("user_digest"), .text("scope"), .integer("distrusted_at"),
            ]
        case .session:
            [
                .text("principal"), .text("session"), .integer("generation"), .integer("accepted_at"),
                .integer("last_seen"),
            ]
        case .receipt:
            [
                .text("principal"), .text("digest"), .integer("number"), .integer("status"), .text("content_type"),
                .bytes("body"), .integer("saved_at"), .integer("expires_at"),
            ]
        case .replica:
            [
                .integer("id"), .text("principal"), .bool("confirmed"), .integer("first_seen"), .integer("last_seen"),
                .text("last_result"), .integer("schema_version"), .integer("pushed_version"), .integer("tip"),
                .integer("base"), .integer("compacted"), .integer("horizon"), .integer("ledger_version"),
                .integer("compact_after"), .integer("accepted_at"), .integer("resync_at"), .bool("dead"),
            ]
        case .cursor:
            [
                .text("principal"), .integer("cursor"), .integer("replica"), .integer("parent"), .bytes("vector"),
                .integer("schema_version"), .text("session"), .integer("generation"), .bool("confirmed"),
                .text("mapping"), .integer("layer"), .integer("below"), .bool("exact"), .integer("noted"),
                .bytes("comparisons"), .integer("id_sequence"), .bytes("kept"),
            ]
        case .deviceTrouble:
            [
                .integer("replica"), .text("kind"), .text("principal"), .integer("count"), .integer("since"),
                .integer("last_at"), .text("code"),
            ]
        case .layer, .layerCount, .chunk, .owed: ledgerColumns
        case .pushNote, .idMap, .pushRefusal, .pushJournal, .pushFlight: pushColumns
        case .quarantine, .pushQuarantine: quarantineColumns
        }
    }

    private var ledgerColumns: [Column] {
        switch self {
        case .layer:
            [
                .integer("id"), .text("principal"), .integer("replica"), .integer("kind"), .integer("cursor"),
                .integer("chunks"), .integer("made_at"),
            ]
        case .layerCount:
            [.integer("layer"), .text("client_table"), .integer("held"), .integer("entries"), .integer("bytes")]
        case .chunk:
            [
                .integer("id"), .integer("layer"), .text("client_table"), .bytes("first"), .integer("entries"),
                .bytes("bytes"),
            ]
        default:
            [
                .integer("replica"), .text("client_table"), .text("record"), .text("principal"), .integer("count"),
                .integer("since"), .integer("delivered"),
            ]
        }
    }

    private var pushColumns: [Column] {
        switch self {
        case .pushNote:
            [
                .text("principal"), .text("client_table"), .text("record"), .integer("state"), .integer("sequence"),
                .integer("accepted"), .bytes("links"), .integer("shape"), .integer("made_at"),
            ]
        case .idMap:
            [
                .text("principal"), .text("client_table"), .bytes("client_id"), .bytes("backend_id"),
                .bool("is_public"), .integer("sequence"), .integer("made_at"),
            ]
        case .pushRefusal:
            [
                .text("principal"), .text("client_table"), .bytes("record"), .text("kind"), .text("call"),
                .text("reason"), .integer("status"), .text("message"), .integer("count"), .integer("first_at"),
                .integer("last_at"),
            ]
        case .pushJournal:
            [
                .integer("id"), .text("principal"), .integer("presented"), .integer("started_at"),
                .integer("changed_at"), .text("state"), .integer("operations"), .integer("applied"),
                .integer("rejected"), .integer("found"), .integer("lost"), .text("code"), .text("message"),
                .text("client_table"), .bytes("record"), .integer("tries"), .integer("tried_at"),
            ]
        default:
            [
                .integer("journal"), .integer("place"), .text("kind"), .text("client_table"), .bytes("record"),
                .bool("makes_id"), .text("idempotency_key"), .text("method"), .text("target"), .bytes("body"),
                .bytes("sought"), .bool("given_up"),
            ]
        }
    }

    private var quarantineColumns: [Column] {
        switch self {
        case .quarantine:
            [
                .integer("id"), .bytes("digest"), .text("principal"), .text("reason"), .text("type"),
                .text("namespace"), .text("client_table"), .text("record"), .bytes("bytes"), .integer("count"),
                .integer("first_seen"), .integer("last_seen"),
            ]
        default:
            [
                .integer("id"), .text("principal"), .text("client_table"), .bytes("record"), .text("kind"),
                .bytes("body"), .bool("whole"), .text("reason"), .integer("status"), .text("message"),
                .integer("count"), .integer("first_at"), .integer("last_at"), .integer("marked_at"), .integer("tries"),
            ]
        }
    }
}
