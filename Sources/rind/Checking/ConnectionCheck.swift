// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Curl
import Foundation
import Gateway
import GatewayConfig
import HTTPTypes
import Ledger
import PostgresState
import SQLiteState
import StateStore
import SyncModel

/// Tries what a configuration names: the backend, the state, the spool's directory.
struct ConnectionCheck {
    private let configuration: Configuration
    private let accounts: HeaderArguments.Accounts
    private let scope: SyncScope
    private let checklist: Checklist

    /// The size of the file that tries the spool's directory.
    private static let triedBytes = 64 << 10

    /// The extent to which the backend's checklist is tried.
    enum Checklist {
        case none, reading, writing
    }

    /// Creates a check that sends an account's header fields to the backend, for a sync of this scope; the second account
    /// is for the checklist.
    init(
        _ configuration: Configuration, _ accounts: HeaderArguments.Accounts, in scope: SyncScope, checklist: Checklist
    ) {
        self.configuration = configuration
        self.accounts = accounts
        self.scope = scope
        self.checklist = checklist
    }

    /// Prints what it finds.
    ///
    /// - Returns: Whether all is as it should be; a note is no fault.
    func run() async -> Bool {
        var (findings, points) = await backend()
        findings += points?.failures ?? []
        findings += [await state(), await spool()]
        let terminal = Terminal()
        for line in findings.flatMap({ $0.lines(terminal) }) { Console.out(line) }
        if let points {
            let (url, page) = (configuration.backend.url, "docs/BACKEND-PROTOCOL.md, section 12")
            let date = TimeText.utc(SystemClock().now).prefix(10)
            Console.out("\nChecklist of \(page), tried by \(Version.line) at \(url) on \(date):\n")
            for line in points.table { Console.out(line) }
        }
        if points == nil, checklist != .none {
            Console.out("\nThe checklist was not tried: mend first what is wrong or unsure above.")
        }
        return findings.allSatisfy(\.verdict.isPassed) && points?.isPassed != false
    }

    private func backend() async -> ([CheckFinding], ChecklistResults?) {
        do {
            let reactor = try CurlReactor.start(configuration.reactorSettings)
            let check = BackendCheck(configuration, fields: accounts.first, scope: scope, reactor: reactor)
            let findings = await check.run()
            var points: ChecklistResults?
            // What is wrong already would only be found again.
            if checklist != .none, findings.allSatisfy(\.verdict.isPassed) {
                points = await check.checklist(writes: checklist == .writing, second: accounts.second)
            }
            await reactor.shutdown()
            return (findings, points)
        } catch {
            return ([CheckFinding(.wrong, "\(error)")], nil)
        }
    }

    /// Looks into a state without changing it.
    private func state() async -> CheckFinding {
        do {
            return switch configuration.state.url {
            case .sqlite(let path, _): try await file(path)
            case .postgres(let url): try await database(configuration.postgresOptions(url))
            }
        } catch StateError.inUse(_, let holder) {
            let process = holder.map { " (process \($0))" } ?? ""
            return CheckFinding(
                .ok,
                "\(configuration.stateLocation) is in use by a gateway that runs\(process), so its health was not tried",
                of: "state")
        } catch let error as StateError {
            return CheckFinding(
                .wrong, "\(error.description) (\(error.code))", of: "state", hint: error.whoMayNot ?? error.advice)
        } catch {
            return CheckFinding(.wrong, CommandFailure(error).message, of: "state")
        }
    }

    /// Throws what would keep a gateway from starting on an open state.
    private func checkStarting(_ store: CommandState) async throws {
        if try await !KeyFailure.isOpen(store) { try await KeyFailure.check(store, of: configuration) }
        try await store.inspection.checkEpochs()
        try await SyncGateway.checkClock(SystemClock(), of: store)
    }

    /// Opens only a file that is of this version and not in use.
    private func file(_ path: String) async throws -> CheckFinding {
        let options = configuration.sqliteOptions
        guard let version = try await SQLiteStateStore.inspect(path: path, options: options) else {
            _ = try await NewState(configuration)
            return newState(path)
        }
        try await configuration.closing(try await SQLiteStateStore.open(path: path, options: options)) {
            try await $0.check(thoroughly: true)
            let damage = try await $0.inspection.damage { (try? LedgerChunkReader($0)) != nil }
            let parts = damage.map { "\($0.value) of '\($0.key.rawValue)'" }.sorted().joined(separator: ", ")
            guard parts.isEmpty else { throw StateError.corrupt("rows do not fit their checksums: \(parts)") }
            try await checkStarting($0)
        }
        return CheckFinding(.ok, "\(path) is sound (schema version \(version))", of: "state")
    }

    /// Opens a database with a schema that can be used as it is.
    private func database(_ options: PostgresStateStore.Options) async throws -> CheckFinding {
        let location = configuration.stateLocation
        guard let version = try await PostgresStateStore.inspect(options, logger: .silent) else {
            return CheckFinding(.ok, "there is no state in \(location) yet; 'rind serve' will make it", of: "state")
        }
        try await configuration.closing(try await PostgresStateStore.openShared(options, logger: .silent)) {
            try await $0.check(thoroughly: false)
            try await checkStarting($0)
        }
        return CheckFinding(.ok, "\(location) can be used (schema version \(version))", of: "state")
    }

    private func newState(_ path: String) -> CheckFinding {
        let directory = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard access(directory, W_OK | X_OK) == 0 else {
            return CheckFinding(
                .wrong, "there is no state yet, and \(directory) takes no new file (state.open)", of: "state",
                hint: StateError.open(path: path, reason: "").whoMayNot)
        }
        return CheckFinding(.ok, "there is no state yet; 'rind serve' will make \(path)", of: "state")
    }

    /// Writes a file of the size that `/readyz` tries the state with; it has no name, and is gone at once.
    private func spool() async -> CheckFinding {
        if let fault = configuration.spoolFault {
            return CheckFinding(
                .wrong, "\(fault) (spool.file)", of: "spool", hint: "make one that takes files, or set [spool] dir")
        }
        let directory = configuration.spoolDirectory
        do throws(SpoolError) {
            let file = try await DiskSpoolFiles(directory: directory).open()
            try await file.write([UInt8](repeating: 0, count: Self.triedBytes), at: 0)
        } catch {
            let reason: String
            switch error {
            case .diskFull: reason = "the file system is full"
            case .file(_, let code): reason = String(cString: strerror(code))
            case .tooLarge, .exhausted, .cancelled: reason = "\(error)"
            }
            return CheckFinding(
                .wrong, "\(directory) takes no file of \(Self.triedBytes >> 10) KiB: \(reason) (\(error.code))",
                of: "spool", hint: "make room, or set [spool] dir")
        }
        return CheckFinding(.ok, "\(directory) takes files", of: "spool")
    }
}
