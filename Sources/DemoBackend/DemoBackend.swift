// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

/// A small but real backend that streams versioned JSONL, as `docs/BACKEND-PROTOCOL.md` specifies it.
///
/// It keeps projects, tasks, comments and labels of a few users in SQLite, and it is faithful to its model also in the
/// points that hurt a client of the protocol. Tests control its clock, its records and the faults of its requests.
package final class DemoBackend: Service {
    /// The configuration that the backend was created with.
    package let configuration: DemoConfiguration
    /// The backend's time, which may be moved at any time, also while the backend runs.
    package let clock: DemoClock
    let store: DemoStore
    let log = DemoLog()
    let files = DemoFiles()
    let lastPruned = NIOLockedValueBox<Int64>(0)
    private let boundPort = OneShot<Int>()
    private let hook = NIOLockedValueBox<StreamHook?>(nil)
    let retired: NIOLockedValueBox<DemoRetirement>
    /// The replica that streams are read from; nil for the database itself.
    let replica = NIOLockedValueBox<DemoStore?>(nil)
    /// The counts of lines that the backend's streams have sent.
    let sent = SentLines()

    /// Opens the database and creates the accounts; ``run()`` then serves.
    ///
    /// - Throws: Errors of SQLite if the file cannot be used.
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

    /// The port that the backend listens on, as soon as it does.
    ///
    /// - Throws: The reason why the backend could not listen.
    package var port: Int {
        get async throws { try await boundPort.value }
    }

    /// The URL that clients use, such as `http://127.0.0.1:8791`.
    package var url: String {
        get async throws { "http://\(configuration.host):\(try await port)" }
    }

    /// The function to call before each part of every stream; nil calls none.
    package var streamHook: StreamHook? {
        get { hook.withLockedValue(\.self) }
        set { hook.withLockedValue { $0 = newValue } }
    }

    /// Starts a backend, passes it to `body`, and stops it with all its connections.
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
