// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

// Requests that cannot be parsed, or are refused unread, get an answer, too, and the connection ends.
extension ClientChannel {
    func refuse(
        _ failure: GatewayError, on outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>, logger: Logger?
    ) async throws {
        let id = RequestID.random()
        let answer = FailureAnswer(failure, requestID: id, accept: nil)
        var headers = HTTPHeaders()
        for field in answer.fields { headers.add(name: field.name.rawName, value: field.value) }
        headers.add(name: "X-Request-Id", value: id)
        headers.add(name: "Date", value: HTTPDate.now())
        headers.add(name: "Content-Length", value: String(answer.body.readableBytes))
        headers.add(name: "Connection", value: "close")
        let status = HTTPResponseStatus(statusCode: failure.status)
        try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
        try await outbound.write(.body(.byteBuffer(answer.body)))
        try await outbound.write(.end(nil))
        logger?.info(
            "request",
            metadata: ["request_id": "\(id)", "status": "\(failure.status)", "code": "\(failure.code)"])
    }
}

extension GatewayError {
    /// Creates the error for a request that is not HTTP, or whose head is too large.
    init(parsing error: HTTPParserError) {
        switch error {
        case .headerOverflow:
            self.init(fault: .headTooLarge)
        case .invalidVersion:
            self.init(fault: .httpVersion)
        default:
            self.init(fault: .malformed, cause: "\(error)")
        }
    }
}
