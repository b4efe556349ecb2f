// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

// What the client gets of a push that was taken, and what is kept of it.
extension PushRunner {
    /// Keeps the answer; where that fails the push is applied all the same, and its client must hear so.
    func saveReceipt() async {
        guard let kept = keptReceipt else { return }
        do {
            try await services.store.saveReceipt(
                kept.receipt, principal: identity.principal, digest: digest, at: services.clock.now,
                expiresAt: kept.expiresAt)
        } catch {
            logger.notWritten("could not store the receipt of an applied push", error)
        }
    }

    /// The answer as it is kept; nil where none is.
    var keptReceipt: JournalEnd.KeptReceipt? {
        let window = services.configuration.push.receiptWindow.milliseconds
        guard window > 0 else { return nil }
        return JournalEnd.KeptReceipt(
            receipt: newReceipt, digest: digest, expiresAt: services.clock.now + window)
    }

    var newReceipt: Receipt {
        Receipt(
            status: 200, contentType: AnswerWriter.contentType,
            body: AnswerWriter(dialect: services.dialect).pushAnswer(rejected: reported))
    }

    /// What the client hears of what was refused: where it is set aside, nothing.
    private var reported: [RecordList] {
        guard services.configuration.push.rejected == .report else { return [] }
        return recordLists(rejected.sorted().map { record(plan.operations[$0], nil) })
    }

    func answer(_ receipt: Receipt) -> PushAnswer {
        var figures = figures
        if services.configuration.push.rejected == .quarantine { figures.quarantined = rejected.count }
        return PushAnswer(
            figures: figures, status: receipt.status, contentType: receipt.contentType,
            body: receipt.body)
    }
}
