// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import NIOCore
import WatermelonWire

/// The answer that tells a client why its request was not served.
struct FailureAnswer {
    /// The fields.
    let fields: HTTPFields
    /// The body.
    let body: ByteBuffer

    /// Creates the answer for an error.
    ///
    /// - Parameters:
    ///   - error: The reason.
    ///   - requestID: The id of the request, as in the log.
    ///   - accept: The request's `Accept` field: JSON goes only to clients that name it.
    ///   - extra: Further fields, such as `Allow`.
    init(_ error: GatewayError, requestID: String, accept: String?, extra: HTTPFields = [:]) {
        var details: ErrorAnswer.Details?
        if !error.details.isEmpty {
            details = error.status == 409 ? .conflicts(error.details, present: error.present) : .records(error.details)
        }
        let answer = ErrorAnswer(
            status: error.status, code: error.code, message: error.message, requestID: requestID, details: details)
        let (contentType, bytes) = answer.body(accept: accept)
        var fields = extra
        fields[.contentType] = contentType
        fields[.errorCode] = error.code
        fields[.cacheControl] = "no-store"
        fields[.xContentTypeOptions] = "nosniff"
        if let seconds = error.retryAfter { fields[.retryAfter] = String(seconds) }
        if error.status == 401, fields[.wwwAuthenticate] == nil { fields[.wwwAuthenticate] = "Bearer" }
        self.fields = fields
        body = ByteBuffer(bytes: bytes)
    }
}
