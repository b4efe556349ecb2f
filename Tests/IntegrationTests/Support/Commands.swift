// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Programs of the machine that tests run.
enum Commands {
    /// What a program has written, and its status.
    struct Result: Sendable {
        let status: Int32
        let output: String
    }

    static let hasTLS = ["/usr/bin/openssl", "/usr/bin/curl"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Runs a program to its end, on a thread that may wait.
    static func run(_ arguments: String...) async throws -> Result { try await run(arguments) }

    static func run(_ arguments: [String]) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Swift.Result {
                        let (process, pipe) = (Process(), Pipe())
                        process.executableURL = URL(filePath: "/usr/bin/\(arguments[0])")
                        process.arguments = Array(arguments.dropFirst())
                        // What runs here is reached without a proxy.
                        process.environment = ProcessInfo.processInfo.environment
                            .merging(["no_proxy": "*", "NO_PROXY": "*"]) { $1 }
                        process.standardInput = FileHandle.nullDevice
                        process.standardOutput = pipe
                        process.standardError = pipe
                        try process.run()
                        let output = pipe.fileHandleForReading.readDataToEndOfFile()
                        process.waitUntilExit()
                        return Result(
                            status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
                    })
            }.start()
        }
    }

    /// Makes a certificate for 127.0.0.1 that signs itself, and its key, in a directory.
    static func makeCertificate(_ name: String, in directory: String, days: Int = 90) async throws {
        let made = try await run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "\(days)", "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
            "\(directory)/\(name).key", "-out", "\(directory)/\(name).pem")
        try #require(made.status == 0, "\(made.output)")
    }
}
