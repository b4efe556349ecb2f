// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import HTTPTypes
import NIOHTTP1
import WatermelonWire

/// Why a request failed, with the fields that its answer needs besides those of every error.
struct RequestFailure: Error {
    /// What the client hears.
    var error: GatewayError
    /// Such as `Allow`.
    var fields = HTTPFields()

    init(_ error: GatewayError, fields: HTTPFields = [:]) {
        self.error = error
        self.fields = fields
    }

    /// The failure behind any error.
    init(behind error: any Error) {
        // What the client did while its body was uploaded comes wrapped.
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

    /// A path with other methods than the one asked for.
    init(allowed methods: [String]) {
        error = GatewayError(
            status: 405, code: WireError.Code.method.rawValue,
            message: "This address takes \(methods.joined(separator: " and ")) requests only.")
        fields[.allow] = Self.allow(methods)
    }

    private static func allow(_ methods: [String]) -> String { (methods + ["OPTIONS"]).joined(separator: ", ") }
}

extension GatewayError {
    fileprivate init(serving error: any Error) {
        switch error {
        case is ClientTimeout:
            self.init(
                status: 408, code: "request.timeout",
                message: "The request took too long to arrive. Please try again.")
        case is ClientGone:
            // Nobody hears it; the status is nginx's, for the log.
            self.init(status: 499, code: "request.client_gone", message: "The client has gone.")
        case is ClientTooSlow:
            self.init(status: 499, code: "request.client_too_slow", message: "The answer was not taken in time.")
        case let error as HTTPParserError: self.init(parsing: error)
        case let error as CurlError: self.init(proxying: error)
        default: self.init(error)
        }
    }

    /// An exchange that passed through to the backend and failed.
    init(proxying error: CurlError) {
        let message = "The server cannot be reached right now. Please try again in a moment."
        let status: Int
        switch error {
        case .timeout: status = 504
        case .invalidRequest: status = 400
        case .cancelled, .shutDown: status = 503
        default: status = 502
        }
        self.init(
            status: status, code: status == 400 ? "request.malformed" : error.code,
            message: status == 400 ? "The request cannot be passed on." : message,
            retryAfter: status == 400 ? nil : 5, cause: error.description)
    }
}
