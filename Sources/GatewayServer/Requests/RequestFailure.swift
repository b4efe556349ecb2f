// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import HTTPTypes
import NIOHTTP1
import WatermelonWire

/// The reason why a request failed, with the fields that its answer needs besides those of every error.
struct RequestFailure: Error {
    /// The error that the client gets.
    var error: GatewayError
    /// Further fields, such as `Allow`.
    var fields = HTTPFields()

    init(_ error: GatewayError, fields: HTTPFields = [:]) {
        self.error = error
        self.fields = fields
    }

    /// Creates the failure for any error.
    init(behind error: any Error) {
        // Errors of the client during the upload of its body come wrapped.
        if case CurlError.upload(let cause) = error {
            self.init(behind: cause)
            return
        }
        if let failure = error as? RequestFailure {
            self = failure
            return
        }
        self.init(GatewayError(serving: error))
        if let error = error as? WireError, !error.allowedMethods.isEmpty {
            fields[.allow] = Self.allow(error.allowedMethods)
        }
    }

    /// Creates the failure for a method that the path does not allow.
    init(allowed methods: [String]) {
        error = GatewayError(allowedMethods: methods)
        fields[.allow] = Self.allow(methods)
    }

    private static func allow(_ methods: [String]) -> String { (methods + ["OPTIONS"]).joined(separator: ", ") }
}

extension GatewayError {
    fileprivate init(serving error: any Error) {
        switch error {
        case is ClientTimeout:
            self.init(fault: .arrivedTooSlowly)
        case is ClientGone: self.init(fault: .clientGone)
        case is ClientTooSlow: self.init(fault: .clientTooSlow)
        case let error as HTTPParserError: self.init(parsing: error)
        case let error as CurlError: self.init(proxying: error)
        default: self.init(error)
        }
    }
}
