// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Foundation
import Gateway
import GatewayConfig
import GatewayServer
import Logging
import SQLiteState
import StateProbes
import StateStore
import SyncModel

/// The parts of a running gateway, except its server.
struct GatewayParts {
    let configuration: Configuration
    let store: any CommandState
    let reactor: CurlReactor
    /// The way to the backend for what passes through.
    let passThrough: PassThroughReactors
    let gateway: SyncGateway

    /// Opens the state and starts the reactors; nothing is asked of the backend.
    ///
    /// - Throws: `StateError`, `CurlError`, or `PullFailure.clockBehind` where the clock is behind the state.
    static func open(_ configuration: Configuration, logger: Logger) async throws -> GatewayParts {
        try configuration.checkSpoolDirectory()
        let store = try await configuration.openState(report: { logger.report($0) }, logger: logger)
        do {
            let reactor = try CurlReactor.start(configuration.reactorSettings)
            let gateway = SyncGateway(
                configuration: configuration, store: store,
                backend: backend(for: configuration, by: reactor, logger: logger),
                ports: GatewayPorts(files: DiskSpoolFiles(directory: configuration.spoolDirectory)))
            try await gateway.checkClock()
            return GatewayParts(
                configuration: configuration, store: store, reactor: reactor,
                passThrough: try PassThroughReactors.start(configuration), gateway: gateway)
        } catch {
            await store.close()
            throw error
        }
    }

    /// Returns the client of a configuration's backend.
    func backend(for configuration: Configuration, logger: Logger) -> BackendClient {
        Self.backend(for: configuration, by: reactor, logger: logger)
    }

    private static func backend(
        for configuration: Configuration, by reactor: CurlReactor, logger: Logger
    ) -> BackendClient {
        BackendClient(
            settings: configuration.backendSettings, transport: reactor, clock: SystemClock(), logger: logger)
    }

    /// The location of the state: a file's whole path, or a database without secrets.
    var stateLocation: String { (store as? SQLiteStateStore)?.path ?? configuration.stateLocation }

    /// Keeps the state small; `ledger` returns the present settings.
    func housekeeping(
        ledger: @escaping @Sendable () -> Configuration.Ledger, logger: Logger
    ) -> Housekeeping {
        Housekeeping(store: store, ledger: ledger, clock: SystemClock(), logger: logger)
    }

    /// Closes the state, then ends the reactors.
    ///
    /// The server must have drained before.
    func close() async {
        await store.close()
        await reactor.shutdown()
        await passThrough.shutdown()
    }
}

extension Configuration {
    /// The directory for files without a configured one.
    static var temporaryDirectory: String {
        let path = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The directory into which spools overflow.
    var spoolDirectory: String { spool.dir ?? Self.temporaryDirectory }

    /// The problem with the spool's directory; nil if it takes files.
    var spoolFault: String? {
        let directory = spoolDirectory
        guard access(directory, W_OK | X_OK) != 0 else { return nil }
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory)
        let fault = !exists ? "does not exist" : isDirectory.boolValue ? "takes no files" : "is no directory"
        return "the spool's directory \(directory) \(fault)"
    }

    /// Fails if the spool's directory takes no files: better now than at the first large sync.
    func checkSpoolDirectory() throws(CommandFailure) {
        guard let spoolFault else { return }
        throw CommandFailure(
            .cannotCreate, "\(spoolFault.asSentence) Make it, or set [spool] dir (spool.file).", code: "spool.file")
    }
}

extension Logger {
    /// Logs a fault of the state with its remedy, or its end.
    fileprivate func report(_ event: StateEvent) {
        switch event {
        case .failed(let error, let path):
            log(
                level: error.isTransient ? .warning : .error, "the state fails",
                metadata: [
                    "code": "\(error.code)", "path": "\(path)", "cause": "\(error)", "advice": "\(error.advice ?? "")",
                ])
        case .recovered(let code, let path):
            notice("the state can be written again", metadata: ["code": "\(code)", "path": "\(path)"])
        }
    }
}
