// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A reason why the server could not start, or cannot use what it is given.
package enum ServerError: Error, Sendable, CustomStringConvertible {
    /// The server cannot listen on the address.
    case listen(address: String, reason: String)
    /// The certificate for clients, or its key, cannot be used.
    case certificate(file: String, reason: String)

    /// A stable name for logs.
    package var code: String {
        switch self {
        case .listen: "server.listen"
        case .certificate: "tls.certificate"
        }
    }

    /// A sentence for the operator.
    package var description: String {
        switch self {
        case .listen(let address, let reason): "cannot listen on \(address): \(reason)"
        case .certificate(let file, let reason): "cannot use \(file): \(reason)"
        }
    }

    /// Returns in words why the system does not allow listening.
    static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        switch error.errnoCode {
        case EADDRINUSE: return "another process listens there"
        case EADDRNOTAVAIL: return "this machine has no such address"
        case EACCES: return "the port needs more rights"
        default: return "\(error)"
        }
    }
}
