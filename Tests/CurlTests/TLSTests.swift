// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Foundation
import GatewayTesting
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

    @Test func `a server that asks for a certificate gets the one that is configured`() async throws {
        let server = try await TLSServer.start(name: "DNS:localhost", asksClients: true)
        defer { server.stop() }
        var settings = CurlReactor.Settings()
        settings.caFile = server.certificate.path
        try await withReactor(settings) { reactor in
            let error = await #expect(throws: CurlError.self) {
                try await reactor.execute(CurlRequest(url: "https://localhost:\(server.port)/"))
            }
            #expect(error != nil)
        }
        settings.clientCertificate = server.certificate.path
        settings.clientKey = server.key.path
        try await withReactor(settings) { reactor in
            let response = try await reactor.execute(CurlRequest(url: "https://localhost:\(server.port)/"))
            #expect(response.status == .ok)
        }
        settings.clientKey = "/nonexistent/key.pem"
        try await withReactor(settings) { reactor in
            let error = await #expect(throws: CurlError.self) {
                try await reactor.execute(CurlRequest(url: "https://localhost:\(server.port)/"))
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
                var request = CurlRequest(url: "https://127.0.0.1:\(server.port)/")
                // The answer may be long in coming beside other tests.
                request.timeouts.connect = .seconds(100)
                let asking = request
                let error = await #expect(throws: CurlError.self) { try await reactor.execute(asking) }
                #expect(error?.code == "backend.tls")
            }
        }
    }
}
