// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
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
    let store: CommandState
    let reactor: CurlReactor
    /// The way to the backend for what passes through.
    let passThrough: PassThroughReactors
    let breaker: BackendBreaker
    let gateway: SyncGateway
    let keyFiles: KeyFiles
    /// True if there was no state, and one was made.
    let isStateNew: Bool
    /// The certificate for clients; nil for plain connections.
    let certificate: ServerCertificate?

    /// Opens the state and starts the reactors; nothing is asked of the backend.
    ///
    /// - Throws: `StateError`, `CurlError`, ``CommandFailure`` for files of keys and a state elsewhere, ``KeyFailure`` if the state belongs to
    ///   another identity key, or `PullFailure.clockBehind` if the clock is behind the state.
    static func open(_ configuration: Configuration, logger: Logger) async throws -> GatewayParts {
        try configuration.checkSpoolDirectory()
        let keyFiles = KeyFiles()
        let keys = try await keyFiles.read(configuration, logger: logger)
        let made = try await NewState(configuration)
        let store = try await configuration.openState(report: { logger.report($0) }, logger: logger)
        made?.log(to: logger)
        do {
            let reactor = try CurlReactor.start(configuration.reactorSettings)
            let breaker = BackendBreaker(configuration.breakerSettings, clock: SystemClock(), logger: logger)
            let gateway = SyncGateway(
                configuration: configuration, store: store,
                backend: backend(for: configuration, by: reactor, breaker, logger: logger),
                ports: GatewayPorts(files: DiskSpoolFiles(directory: configuration.spoolDirectory)),
                tokens: keys.tokens)
            try await store.inspection.checkEpochs()
            try await checkKey(store, of: configuration, logger: logger)
            try await gateway.checkClock()
            return GatewayParts(
                configuration: configuration, store: store, reactor: reactor,
                passThrough: try PassThroughReactors.start(configuration), breaker: breaker, gateway: gateway,
                keyFiles: keyFiles, isStateNew: made != nil, certificate: keys.certificate)
        } catch {
            await store.close()
            throw error
        }
    }

    /// Refuses a state that was written under another identity key, in which no device would be recognised.
    private static func checkKey(
        _ store: CommandState, of configuration: Configuration, logger: Logger
    ) async throws {
        let own = SyncGateway.keyMark(of: configuration)
        guard try await store.keyMark() != own else { return }
        do {
            try await store.setKeyMark(own, replaces: try await KeyFailure.isOpen(store))
        } catch {
            logger.notice("the state cannot be marked with its identity key", metadata: ["cause": "\(error)"])
        }
        // Another gateway may have been first.
        try await KeyFailure.check(store, of: configuration)
        if try await store.keyMark() == own { logger.notice("the state is now marked with this identity key") }
    }

    /// Returns the client of another configuration's backend, and closes the breaker.
    func backend(for configuration: Configuration, logger: Logger) -> BackendClient {
        breaker.configure(configuration.breakerSettings)
        return Self.backend(for: configuration, by: reactor, breaker, logger: logger)
    }

    private static func backend(
        for configuration: Configuration, by reactor: CurlReactor, _ breaker: BackendBreaker, logger: Logger
    ) -> BackendClient {
        BackendClient(
            settings: configuration.backendSettings, transport: reactor, clock: SystemClock(), breaker: breaker,
            logger: logger)
    }

    /// The location of the state: a file's whole path, or a database without secrets.
    var stateLocation: String { configuration.stateLocation }

    /// The name of this gateway among the holders of leases.
    var leaseHolder: String { gateway.leaseHolder }

    /// Keeps the state small; `ledger` returns the present settings.
    func housekeeping(
        ledger: @escaping @Sendable () -> Configuration.Ledger, logger: Logger
    ) -> Housekeeping {
        Housekeeping(store: store, ledger: ledger, clock: SystemClock(), logger: logger)
    }

    /// Stores what the state has put off.
    func deferredStoring(logger: Logger) -> DeferredStoring {
        DeferredStoring(store: store, clock: SystemClock(), logger: logger)
    }

    /// Closes the state, then ends the reactors.
    ///
    /// The server must have drained before.
    func close() async {
        await store.close()
        await reactor.shutdown()
        await passThrough.shutdown()
        await keyFiles.close()
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
        let fault =
            switch PathFault(directory, for: W_OK | X_OK) {
            case .closed(let outer, let user): "cannot be reached: \(user) may not enter \(outer)"
            case _ where exists && !isDirectory.boolValue: "is no directory"
            case .missing: "does not exist"
            case .refused(let user): "takes no files: \(user) may not write there"
            case .other: "takes no files"
            }
        return "the spool's directory \(directory) \(fault)"
    }

    /// Fails if the spool's directory takes no files: better now than at the first large sync.
    func checkSpoolDirectory() throws(CommandFailure) {
        guard let spoolFault else { return }
        throw CommandFailure(
            .cannotCreate, "\(spoolFault.asSentence) Make one that takes files, or set [spool] dir (spool.file).",
            code: "spool.file")
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
