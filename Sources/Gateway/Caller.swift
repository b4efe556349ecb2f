// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import Logging

/// A client's request as far as it says who is calling.
package struct Caller: Sendable {
    /// The request's header fields.
    package var fields: HTTPFields
    /// The id of the request, in every log line and error that comes of it.
    package var requestID: String
    /// Carries the request id.
    package var logger: Logger

    /// A caller.
    package init(fields: HTTPFields, requestID: String, logger: Logger) {
        self.fields = fields
        self.requestID = requestID
        self.logger = logger
    }
}
