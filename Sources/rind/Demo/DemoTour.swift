// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import DemoBackend
import ServiceLifecycle

/// Shows a sync step by step, then waits for Ctrl-C or ends.
struct DemoTour: Service {
    let backend: DemoBackend
    let files: DemoFiles
    /// Brings the gateway's port as soon as it listens.
    let gatewayPorts: AsyncThrowingStream<Int, any Error>
    let staysUp: Bool

    func run() async throws {
        let gatewayPort = try await cancelWhenGracefulShutdown { try await firstPort() }
        guard let gatewayPort else { return }
        let reactor = try CurlReactor.start()
        let result: Result<Void, any Error>
        do {
            let backendURL = try await backend.url
            try await cancelWhenGracefulShutdown {
                var script = DemoScript(
                    backend: backend, files: files, gatewayURL: "http://127.0.0.1:\(gatewayPort)",
                    backendURL: backendURL, reactor: reactor)
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

    private func firstPort() async throws -> Int? {
        for try await port in gatewayPorts { return port }
        return nil
    }
}
