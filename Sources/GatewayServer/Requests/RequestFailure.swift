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
