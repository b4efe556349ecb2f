// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// What the client of a push hears.
struct PushReply {
    private let scope: PushScope
    /// The places of the operations that the backend will never take, while the others went on.
    private let rejected: Set<Int>

    init(_ scope: PushScope, rejected: Set<Int> = []) {
        self.scope = scope
        self.rejected = rejected
    }

    /// That the push was applied.
    var receipt: Receipt {
        Receipt(
            status: 200, contentType: AnswerWriter.contentType,
            body: AnswerWriter(dialect: scope.services.dialect).pushAnswer(rejected: reported))
    }

    /// The receipt as it is kept for a push that comes again; nil where none is.
    func keptReceipt(_ digest: String) -> JournalEnd.KeptReceipt? {
        let window = scope.settings.receiptWindow.milliseconds
        guard window > 0 else { return nil }
        return JournalEnd.KeptReceipt(receipt: receipt, digest: digest, expiresAt: scope.now + window)
    }

    /// The answer that says what a receipt does.
    func answer(_ receipt: Receipt) -> PushAnswer {
        var figures = scope.figures
        if scope.settings.rejected == .quarantine { figures.quarantined = rejected.count }
        return PushAnswer(
            figures: figures, status: receipt.status, contentType: receipt.contentType, body: receipt.body)
    }

    /// What the client hears of what was refused: where it is set aside, nothing.
    private var reported: [RecordList] {
        scope.settings.rejected == .report ? rejectedLists : []
    }

    private var rejectedLists: [RecordList] { lists(rejected.sorted().map { scope.record(at: $0, nil) }) }

    /// Ids by table, in the order in which the tables first come.
    private func lists(_ records: [PushRefusal.Record]) -> [RecordList] {
        var lists: [RecordList] = []
        for record in records {
            if let index = lists.firstIndex(where: { $0.table == record.table }) {
                lists[index].ids.append(record.id)
            } else {
                lists.append(RecordList(table: record.table, ids: [record.id]))
            }
        }
        return lists
    }
}

// What the client hears of a push that was not applied, or not whole.
extension PushReply {
    /// That the backend refuses one record after the other.
    func tooManyRefusals(applied: Int) -> GatewayError {
        GatewayError(tooManyRefusals: rejectedLists, applied: applied, figures: scope.figures)
    }

    /// That it was refused: which records, by table, and what the backend has of them.
    func refused(_ refusal: PushRefusal, applied: Int, present: [PresentRecord] = []) -> GatewayError {
        GatewayError(
            refused: refusal, details: lists(refusal.records), present: present, applied: applied,
            figures: scope.figures)
    }
}
