// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import DemoBackend
import GatewayServer
import ServiceLifecycle

/// Shows a sync step by step, then waits for Ctrl-C or ends.
struct DemoTour: Service {
    let backend: DemoBackend
    let files: DemoFiles
    /// Brings the port of each of the gateway's listeners as soon as it listens.
    let gatewayPorts: AsyncThrowingStream<(GatewayHTTPServer.Listener, Int), any Error>
    let staysUp: Bool

    func run() async throws {
        let ports = try await cancelWhenGracefulShutdown { try await firstPorts() }
        guard let clients = ports[.clients], let operators = ports[.admin] else { return }
        let reactor = try CurlReactor.start()
        let result: Result<Void, any Error>
        do {
            let backendURL = try await backend.url
            try await cancelWhenGracefulShutdown {
                var script = DemoScript(
                    backend: backend, files: files, gatewayURL: "http://127.0.0.1:\(clients)",
                    operatorURL: "http://127.0.0.1:\(operators)", backendURL: backendURL, reactor: reactor)
                try await script.run()
                if staysUp { script.sayGoodbye() }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await reactor.shutdown()
        do { try result.get() } catch CurlError.cancelled { return } catch is CancellationError { return }
        if staysUp { try? await gracefulShutdown() }
    }

    /// Returns the ports when all listeners are there; less if the gateway ends before.
    private func firstPorts() async throws -> [GatewayHTTPServer.Listener: Int] {
        var ports: [GatewayHTTPServer.Listener: Int] = [:]
        for try await (listener, port) in gatewayPorts {
            ports[listener] = port
            if ports.count == 2 { break }
        }
        return ports
    }
}
