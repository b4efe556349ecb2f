// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Accounts
import Curl
package import DemoBackend
package import Gateway
package import GatewayConfig
import GatewayServer
import SQLiteState
import StateStore

/// A gateway on a free port with a real backend, a real state and real sockets, for one test.
package struct GatewayStack: Sendable {
    /// The backend, to edit, to disturb and to look into.
    package let backend: DemoBackend
    /// The gateway's state.
    package let store: Accounts
    /// The gateway's configuration.
    package let configuration: Configuration
    /// The gateway behind its HTTP.
    package let gateway: SyncGateway
    /// The gateway's log.
    package let log: CapturedLog
    /// Speaks to the gateway.
    package let http: RawHTTPClient
    /// The directory of the state's file and the spool.
    package let directory: String

    /// The gateway's URL.
    package var url: String { "http://\(http.host):\(http.port)" }

    /// True if this task holds a permit of the turnstile already.
    @TaskLocal private static var isInside = false

    /// Starts a backend and a gateway before it, passes them to the body, then stops both and deletes what they wrote.
    ///
    /// Stacks of one process wait for each other where there are many. For a gateway that is started again take
    /// ``withBackend(_:_:)`` and, in it, ``with(_:backend:directory:_:)`` as often as you like.
    @discardableResult
    package static func with<Value: Sendable>(
        _ options: StackOptions = StackOptions(), _ body: (GatewayStack) async throws -> Value
    ) async throws -> Value {
        try await withBackend(options) { backend, directory in
            try await with(options, backend: backend, directory: directory, body)
        }
    }

    /// Starts a backend, and makes a directory for the states of gateways to come.
    @discardableResult
    package static func withBackend<Value: Sendable>(
        _ options: StackOptions = StackOptions(), _ body: (DemoBackend, String) async throws -> Value
    ) async throws -> Value {
        try await inTurn {
            try await TemporaryDirectory.with { directory in
                try await DemoBackend.withRunning(options.backend) { try await body($0, directory) }
            }
        }
    }

    /// Starts a gateway before a running backend, on the state that it finds in the directory.
    @discardableResult
    package static func with<Value: Sendable>(
        _ options: StackOptions, backend: DemoBackend, directory: String,
        _ body: (GatewayStack) async throws -> Value
    ) async throws -> Value {
        let configuration = try StackConfiguration.load(
            options, backendURL: try await backend.url, state: "\(directory)/state.db")
        let reactor = try CurlReactor.start(configuration.reactorSettings)
        let passThrough = try PassThroughReactors.start(configuration)
        let result: Result<Value, any Error>
        do {
            let store = try await SQLiteStateStore.open(path: "\(directory)/state.db", options: options.state)
            do {
                result = .success(
                    try await serve(
                        options, configuration: configuration, backend: backend, directory: directory,
                        reactors: (reactor, passThrough), store: store, body))
            } catch {
                result = .failure(error)
            }
            await store.close()
        } catch {
            result = .failure(error)
        }
        await reactor.shutdown()
        await passThrough.shutdown()
        return try result.get()
    }

    private static func inTurn<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        if isInside { return try await body() }
        await Turnstile.stacks.enter()
        do {
            let value = try await $isInside.withValue(true) { try await body() }
            await Turnstile.stacks.leave()
            return value
        } catch {
            await Turnstile.stacks.leave()
            throw error
        }
    }
}

// Users, devices and what they should hold.
extension GatewayStack {
    /// Creates a new device of a user, signed in to a session of its own at the backend.
    ///
    /// - Parameters:
    ///   - user: An email address.
    ///   - version: The app's schema version.
    ///   - schema: The app's schema over all versions.
    ///   - shape: The form of the app's requests.
    ///   - token: An access token, to share a session; nil makes a session.
    ///   - options: The app's use of the library.
    ///   - seed: Makes the device's ids; devices in one test should have different ones.
    /// - Returns: The device, which has not synced yet.
    /// - Throws: The backend's error if there is no such user.
    package func device(
        of user: String = "ada@example.com", version: Int = 3, schema: ClientSchema = .quickstart,
        shape: ClientRequestShape = .docs, token: String? = nil, options: ClientModel.Options = ClientModel.Options(),
        seed: UInt64 = 1
    ) async throws -> StackDevice {
        var session = token
        if session == nil { session = try await backend.login(as: user) }
        let model = ClientModel(schema: schema, version: version, options: options, seed: seed)
        return StackDevice(model: model, token: session ?? "", shape: shape, http: http)
    }

    /// Returns the differences between a device and the records that its user should see; empty after a quiet sync.
    package func differences(
        of device: StackDevice, user: String = "ada@example.com"
    ) async throws -> [String] {
        let model = device.model
        return StackOracle.differences(
            model.contents,
            try await StackOracle.contents(
                of: backend, for: user, schema: model.schema, version: model.database.version))
    }
}
