// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// An unsuccessful answer, as `{"message":…,"statusCode":…}`.
struct DemoError: Error {
    let status: HTTPResponse.Status
    let message: String
    var headers = HTTPFields()
    /// True if the error comes from checking a body's members: the messages are then a list.
    var isValidation = false

    static func badRequest(_ message: String) -> Self { Self(status: .badRequest, message: message) }
    static func forbidden(_ message: String) -> Self { Self(status: .forbidden, message: message) }
    static func unprocessable(_ message: String) -> Self { Self(status: .unprocessableContent, message: message) }
    static func `internal`(_ message: String) -> Self { Self(status: .internalServerError, message: message) }
    static let unauthenticated = Self(status: .unauthorized, message: "Authentication required")

    var response: Response {
        var body: [String: DemoValue] = ["message": .string(message), "statusCode": .number(Double(status.code))]
        if isValidation {
            body["message"] = [.string(message)]
            body["error"] = .string(status.reasonPhrase)
        }
        return Response(status: status, json: .object(body), headers: headers)
    }
}

extension Response {
    /// Creates an answer of one JSON document.
    init(status: HTTPResponse.Status = .ok, json: DemoValue, headers: HTTPFields = [:]) {
        var bytes: [UInt8] = []
        json.write(to: &bytes)
        var headers = headers
        headers[.contentType] = "application/json"
        self.init(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
