// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Foundation
import HTTPTypes
import NIOCore
import Testing

@Suite(.enabled(if: TLSServer.openssl != nil, "needs the openssl command")) struct TLSTests {
    @Test func `only a certificate that is trusted and made for the host is accepted`() async throws {
        let server = try await TLSServer.start(name: "DNS:localhost")
        defer { server.stop() }
        try await withReactor { reactor in
            // The system does not know this certificate.
            let error = await #expect(throws: CurlError.self) {
                try await reactor.execute(CurlRequest(url: "https://localhost:\(server.port)/"))
            }
            #expect(error?.code == "backend.tls")
            #expect(error?.mayHaveReachedServer == false)
        }
        var settings = CurlReactor.Settings()
        settings.caFile = server.certificate.path
        try await withReactor(settings) { reactor in
            let response = try await reactor.execute(CurlRequest(url: "https://localhost:\(server.port)/"))
            #expect(response.status == .ok)
            #expect(try await response.body.collect(upTo: 1 << 20).readableBytes > 0)
            // Trusted, but for another name.
            let error = await #expect(throws: CurlError.self) {
                try await reactor.execute(CurlRequest(url: "https://127.0.0.1:\(server.port)/"))
            }
            #expect(error?.code == "backend.tls")
        }
    }

    @Test func `a trust file that is not there is an error of TLS`() async throws {
        try await LoopbackServer.run { peer in
            await peer.waitForEnd()
        } _: { server in
            var settings = CurlReactor.Settings()
            settings.caFile = "/nonexistent/ca.pem"
            try await withReactor(settings) { reactor in
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(CurlRequest(url: "https://127.0.0.1:\(server.port)/"))
                }
                #expect(error?.code == "backend.tls")
            }
        }
    }

    @Test func `a server that speaks no TLS is an error of TLS`() async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.read()
            try await peer.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        } _: { server in
            try await withReactor { reactor in
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(CurlRequest(url: "https://127.0.0.1:\(server.port)/"))
                }
                #expect(error?.code == "backend.tls")
            }
        }
    }
}

/// `openssl s_server` with a certificate of its own.
struct TLSServer {
    static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    let port: Int
    let certificate: URL
    private let directory: URL
    private let process: Process

    /// Starts it, away from the threads of the tasks: running a command blocks.
    static func start(name: String) async throws -> TLSServer {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try TLSServer(name: name) })
            }
        }
    }

    private init(name: String) throws {
        let openssl = URL(fileURLWithPath: try #require(Self.openssl))
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("rind-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appendingPathComponent("cert.pem")
        let key = directory.appendingPathComponent("key.pem")
        let request = Process()
        request.executableURL = openssl
        request.arguments =
            ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"]
            + ["-addext", "subjectAltName=\(name)", "-keyout", key.path, "-out", certificate.path]
        request.standardError = FileHandle.nullDevice
        try request.run()
        request.waitUntilExit()
        process = Process()
        process.executableURL = openssl
        process.arguments = ["s_server", "-accept", "0", "-www", "-cert", certificate.path, "-key", key.path]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // "ACCEPT 0.0.0.0:38471" or "ACCEPT [::]:38471"
        var text = ""
        while !text.contains("ACCEPT") || !text.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            text += String(decoding: more, as: UTF8.self)
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") }
        port = try #require(line?.split(separator: ":").last.flatMap { Int($0) })
    }

    func stop() {
        process.terminate()
        try? FileManager.default.removeItem(at: directory)
    }
}
