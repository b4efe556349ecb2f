// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOSSL

/// The certificate for connections that begin now, until a reload replaces it.
final class CurrentCertificate: Sendable {
    private let box: NIOLockedValueBox<ServerCertificate?>

    init(_ certificate: ServerCertificate?) { box = NIOLockedValueBox(certificate) }

    /// The certificate; nil if connections are plain.
    var now: ServerCertificate? { box.withLockedValue { $0 } }

    /// Gives connections from now on another certificate.
    func replace(by certificate: ServerCertificate?) { box.withLockedValue { $0 = certificate } }
}

extension ChannelPipeline.SynchronousOperations {
    /// Closes the connection without a word of TLS: its `close_notify` would tell a client that all of an answer has
    /// come.
    func closeBelowTLS() {
        guard let context = try? context(handlerType: NIOSSLServerHandler.self) else { return close() }
        context.close(promise: nil)
    }

    private func close() { (try? context(handlerType: ConnectionHandler.self))?.close(promise: nil) }
}

extension Error {
    /// True if the other side ended its side of a connection without a word of TLS, as many clients do.
    var isEndWithoutNotice: Bool {
        if case .uncleanShutdown? = self as? NIOSSLError { true } else { false }
    }

    /// True if the client and the gateway could not agree on a connection.
    var isFailedHandshake: Bool {
        if case .handshakeFailed? = self as? NIOSSLError { true } else { false }
    }
}
