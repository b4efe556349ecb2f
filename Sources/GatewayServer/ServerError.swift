// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Why the server could not start.
package enum ServerError: Error, Sendable, CustomStringConvertible {
    /// The address cannot be listened on.
    case listen(address: String, reason: String)

    /// A stable name for logs.
    package var code: String { "server.listen" }

    /// A sentence for whoever started it.
    package var description: String {
        switch self {
        case .listen(let address, let reason): "cannot listen on \(address): \(reason)"
        }
    }
}
