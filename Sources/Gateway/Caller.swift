// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import Logging
package import SyncModel

/// The parts of a client's request that identify the caller.
package struct Caller: Sendable {
    /// The request's header fields.
    package var fields: HTTPFields
    /// The id of the request, in all its log lines and errors.
    package var requestID: String
    /// The fields that tell the backend where the request comes from.
    package var originFields: HTTPFields
    /// True if the request comes from a proxy that may say who is calling.
    package var isPeerTrusted: Bool
    /// The scope that the request's address names.
    package var scope: SyncScope
    /// The logger of the request, with its id.
    package var logger: Logger

    /// Creates a caller.
    package init(
        fields: HTTPFields, requestID: String, originFields: HTTPFields = [:], isPeerTrusted: Bool = false,
        scope: SyncScope = .none, logger: Logger
    ) {
        self.fields = fields
        self.isPeerTrusted = isPeerTrusted
        self.originFields = originFields
        self.requestID = requestID
        self.scope = scope
        self.logger = logger
    }
}
