// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `rind check` finds in the files that a configuration names.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "openssl is missing"))
struct KeyFileCheckTests {
    /// Makes a certificate and its key, and checks a configuration that names them.
    private static func check(days: Int, key: String = "tls.key") async throws -> Finished {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rind-check-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        for name in ["tls", "other"] {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/openssl")
            process.arguments = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                "/CN=test", "-days", "\(days)", "-keyout", directory.appending(path: "\(name).key").path, "-out",
                directory.appending(path: "\(name).pem").path,
            ]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
        }
        return try await RunningCommand.run(
            "check", "--config", Place.quickstart,
            environment: [
                "RIND_GATEWAY_TLS_CERTIFICATE": directory.appending(path: "tls.pem").path,
                "RIND_GATEWAY_TLS_KEY": directory.appending(path: key).path,
            ])
    }

    @Test func `a certificate that is valid for long is no news`() async throws {
        let result = try await Self.check(days: 60)
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
    }

    @Test func `a certificate that expires soon is warned of`() async throws {
        let result = try await Self.check(days: 5)
        #expect(result.status == 0 && result.error.contains("tls.pem expires in 4 days"), "\(result.error)")
    }

    @Test func `a key of another certificate, and one that is missing, are mistakes`() async throws {
        for (key, reason) in [("other.key", "not that of the certificate"), ("none.key", "no such file")] {
            let result = try await Self.check(days: 60, key: key)
            #expect(result.status == 78 && result.error.contains(key) && result.error.contains(reason))
        }
    }

    @Test func `keys of tokens that cannot be used are a mistake`() async throws {
        let result = try await RunningCommand.run(
            "check", "--config", Place.quickstart,
            environment: ["RIND_IDENTITY_PRINCIPAL": "jwt:sub", "RIND_IDENTITY_JWT_KEYS": "/etc/hostname"])
        #expect(result.status == 78 && result.error.contains("/etc/hostname") && result.error.contains("identity.keys"))
    }
}
