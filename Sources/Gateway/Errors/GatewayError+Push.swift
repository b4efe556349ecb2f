// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import SyncMachines
import WatermelonWire

// Answers to a push that the backend has not applied, or only partly: `applied` operations stay.
extension GatewayError {
    private static func notAccepted(applied: Int) -> String {
        applied > 0 ? "The server did not accept all of your changes." : "The server did not accept your changes."
    }

    /// Creates the answer to a push that the backend has put off for too long.
    ///
    /// One that cannot be reached is not called busy.
    init(busy applied: Int, because error: BackendError?) {
        let isBusy = if case .transport = error { false } else { true }
        let cause = error.flatMap { isBusy ? nil : GatewayError($0) }
        self.init(
            status: cause?.status ?? 503, code: cause?.code ?? PushFailure.busy.rawValue,
            message: applied > 0
                ? "The server is busy and has taken only some of your changes. Please sync again in a moment."
                : cause?.message ?? "The server is busy. Please try again in a moment.",
            retryAfter: error?.retryAfter.map { Int($0.components.seconds) } ?? 5, cause: error?.description)
    }

    /// Creates the answer to a push whose records the backend refuses one after the other.
    init(tooManyRefusals details: [RecordList], applied: Int, figures: SyncFigures) {
        self.init(
            status: 422, code: PushFailure.tooManyRefusals.rawValue, message: Self.notAccepted(applied: applied),
            details: details, cause: "the backend refuses one record after the other", figures: figures)
    }

    /// Creates the answer to a refused push, with its records by table and their present state at the backend.
    init(
        refused refusal: PushRefusal, details: [RecordList], present: [PresentRecord], applied: Int,
        figures: SyncFigures
    ) {
        let cause = refusal.records.first.flatMap { record in
            record.message.map { message in record.call.map { "\($0): \(message)" } ?? message }
        }
        switch refusal.kind {
        case .conflict:
            self.init(
                status: 409, code: refusal.kind.rawValue,
                message: "Somebody else has changed this in the meantime. Please sync again.", details: details,
                present: present, cause: cause, figures: figures)
        case .outdated:
            self.init(
                status: 409, code: refusal.kind.rawValue,
                message: "This device is out of date. Sync again to get the latest changes, then save.",
                figures: figures)
        case .rejected:
            self.init(
                status: 422, code: refusal.code, message: Self.notAccepted(applied: applied), details: details,
                cause: cause, figures: figures)
        }
    }
}
