// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import NIOSSL
package import SyncModel

/// The certificate that clients see, with its private key, as it was read from files.
package struct ServerCertificate: Sendable {
    /// The most bytes of a file.
    private static let maximumBytes = 1 << 20

    /// The settings and keys of connections.
    let context: NIOSSLContext
    /// The moment at which the certificate, or one of its chain, expires.
    package let expiry: Instant

    /// Reads a certificate with its chain, and its key; from the same file if `key` is nil.
    ///
    /// It reads files, so it takes a thread that may wait.
    ///
    /// - Throws: ``ServerError/certificate(file:reason:)``.
    package static func read(certificate: String, key: String?) throws(ServerError) -> ServerCertificate {
        let bytes = try contents(of: certificate)
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
            throw .certificate(file: certificate, reason: "it has no certificate in PEM")
        }
        let keyFile = key ?? certificate
        let keyBytes = try key.map(contents) ?? bytes
        guard let privateKey = try? NIOSSLPrivateKey(bytes: keyBytes, format: .pem) else {
            throw .certificate(file: keyFile, reason: "it has no private key in PEM without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        guard let context = try? NIOSSLContext(configuration: configuration) else {
            throw .certificate(file: keyFile, reason: "the key is not that of the certificate in \(certificate)")
        }
        let expiry = chain.map { Instant(milliseconds: Int64($0.notValidAfter) * 1_000) }.min() ?? .earliest
        return ServerCertificate(context: context, expiry: expiry)
    }

    private static func contents(of path: String) throws(ServerError) -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            let data = try file.read(upToCount: maximumBytes + 1) ?? Data()
            guard data.count <= maximumBytes else {
                throw ServerError.certificate(file: path, reason: "it is too long")
            }
            return Array(data)
        } catch let error as ServerError {
            throw error
        } catch {
            throw .certificate(file: path, reason: PathFault(path, for: R_OK).whyUnreadable)
        }
    }
}
