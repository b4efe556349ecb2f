// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

/// A small but real backend that streams versioned JSONL, as `docs/BACKEND-PROTOCOL.md` specifies it.
///
/// It keeps projects, tasks, comments and labels of a few users in SQLite, and it is faithful to its model also in
/// what hurts a client of the protocol. Tests steer its clock, its records and what goes wrong with which request.
package final class DemoBackend: Service {
    /// The configuration.
    package let configuration: DemoConfiguration
    /// Its time; move it as you like, while it runs too.
    package let clock: DemoClock
    let store: DemoStore
    let log = DemoLog()
    let files = DemoFiles()
    let lastPruned = NIOLockedValueBox<Int64>(0)
    private let boundPort = OneShot<Int>()
    private let hook = NIOLockedValueBox<StreamHook?>(nil)
    let retired: NIOLockedValueBox<DemoRetirement>
    /// The counts of lines that its streams have sent.
    let sent = SentLines()

    /// Opens the database and makes the accounts; ``run()`` then serves.
    ///
    /// - Throws: The error of SQLite if the file cannot be used.
    package init(configuration: DemoConfiguration = DemoConfiguration(), clock: DemoClock = DemoClock()) throws {
        self.configuration = configuration
        self.clock = clock
        retired = NIOLockedValueBox(configuration.retirement)
        store = try DemoStore(configuration: configuration, clock: clock)
    }

    /// Serves until the task is cancelled or the service group shuts down; only once for each backend.
    package func run() async throws {
        let backend = self
        let application = Application(
            responder: DemoRoutes(backend: self).responder,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port), serverName: "demo-backend"),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { backend.boundPort.resolve(.success(port)) }
            },
            logger: configuration.logger)
        do {
            try await application.run()
            boundPort.resolve(.failure(CancellationError()))
        } catch {
            boundPort.resolve(.failure(error))
            throw error
        }
    }

    /// The port that it listens on, as soon as it does.
    ///
    /// - Throws: Why it could not listen.
    package var port: Int {
        get async throws { try await boundPort.value }
    }

    /// The URL that clients use, such as `http://127.0.0.1:8791`.
    package var url: String {
        get async throws { "http://\(configuration.host):\(try await port)" }
    }

    /// Called before each part of every stream; nil is nothing.
    package var streamHook: StreamHook? {
        get { hook.withLockedValue(\.self) }
        set { hook.withLockedValue { $0 = newValue } }
    }

    /// Starts a backend, lets the body use it, and stops it, connections and all.
    package static func withRunning<Value: Sendable>(
        _ configuration: DemoConfiguration = DemoConfiguration(), clock: DemoClock = DemoClock(),
        _ body: (DemoBackend) async throws -> Value
    ) async throws -> Value {
        let backend = try DemoBackend(configuration: configuration, clock: clock)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await backend.run() }
            defer { group.cancelAll() }
            _ = try await backend.port
            return try await body(backend)
        }
    }
}
