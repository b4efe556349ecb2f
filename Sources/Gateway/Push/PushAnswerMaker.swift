// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Makes the answers and errors for the client of a push.
struct PushAnswerMaker {
    private let scope: PushScope
    /// The indices of the operations that the backend has refused for good while the others went on.
    private let rejected: Set<Int>

    init(_ scope: PushScope, rejected: Set<Int> = []) {
        self.scope = scope
        self.rejected = rejected
    }

    /// The receipt of the applied push.
    var receipt: Receipt {
        Receipt(
            status: 200, contentType: AnswerWriter.contentType,
            body: AnswerWriter(dialect: scope.services.dialect).pushAnswer(rejected: reported))
    }

    /// Returns the receipt to store for a repetition of the push; nil if receipts are off.
    func keptReceipt(_ digest: String) -> Receipt? {
        let window = scope.settings.receiptWindow.milliseconds
        guard window > 0 else { return nil }
        var kept = receipt
        (kept.digest, kept.expiresAt) = (digest, scope.now + window)
        return kept
    }

    /// Returns the answer with a receipt's contents.
    func answer(_ receipt: Receipt) -> PushAnswer {
        var figures = scope.figures
        figures.note(scope.reader.repaired.problems)
        if scope.settings.rejected != .report { figures.quarantined = rejected.count }
        return PushAnswer(
            figures: figures, status: receipt.status, contentType: receipt.contentType, body: receipt.body)
    }

    /// The refused records that the client is told about; none if they are quarantined.
    private var reported: [RecordList] {
        scope.settings.rejected == .report ? rejectedLists : []
    }

    private var rejectedLists: [RecordList] { lists(rejected.sorted().map { scope.record(at: $0, nil) }) }

    /// Groups ids by table, in the order in which the tables first occur.
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

// Errors for a push that was not applied, or only partly.
extension PushAnswerMaker {
    /// Returns the error for a backend that refuses one record after the other.
    func tooManyRefusals(applied: Int) -> GatewayError {
        GatewayError(tooManyRefusals: rejectedLists, applied: applied, figures: scope.figures)
    }

    /// Returns the error for a refused push, with its records by table and their present state at the backend.
    func refused(_ refusal: PushRefusal, applied: Int, present: [PresentRecord] = []) -> GatewayError {
        GatewayError(
            refused: refusal, details: lists(refusal.records), present: present, applied: applied,
            figures: scope.figures)
    }
}
