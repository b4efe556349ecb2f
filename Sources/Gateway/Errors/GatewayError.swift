// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import WatermelonWire

/// Why a request was not served, as the client, the log and the metrics hear of it.
package struct GatewayError: Error, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The stable code, also the metric's label and the heading in `docs/ERRORS.md`.
    package var code: String
    /// One short sentence for people; apps show it.
    package var message: String
    /// After how many seconds it is worth trying again.
    package var retryAfter: Int?
    /// What it is about.
    package var details: [RecordList]
    /// What the backend has of some of the records in ``details``.
    package var present: [PresentRecord]
    /// What lies behind it, for the log only.
    package var cause: String?
    /// What the sync had come to, for the log.
    package var figures: SyncFigures?

    /// An error.
    package init(
        status: Int, code: String, message: String, retryAfter: Int? = nil, details: [RecordList] = [],
        present: [PresentRecord] = [], cause: String? = nil, figures: SyncFigures? = nil
    ) {
        self.figures = figures
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.details = details
        self.present = present
        self.cause = cause
    }
}
