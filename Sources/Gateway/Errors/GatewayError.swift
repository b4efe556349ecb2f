// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import WatermelonWire

/// The reason why a request was not served, for the client, the log and the metrics.
package struct GatewayError: Error, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The stable code, also the metric's label and the heading in `docs/ERRORS.md`.
    package var code: String
    /// One short sentence for the user; apps show it.
    package var message: String
    /// The number of seconds after which another attempt makes sense.
    package var retryAfter: Int?
    /// The records that the error is about.
    package var details: [RecordList]
    /// The backend's present state of some of the records in ``details``.
    package var present: [PresentRecord]
    /// The cause, for the log only.
    package var cause: String?
    /// The figures of the sync, for the log.
    package var figures: SyncFigures?

    /// Creates an error.
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
