// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Foundation
import Gateway
import GatewayConfig
import HTTPTypes
import SQLiteState
import StateStore

/// Tries what a configuration names: the backend, the state, the spool's directory.
struct ConnectionCheck {
    private let configuration: Configuration
    private let fields: HTTPFields

    /// Creates a check that sends these header fields to the backend.
    init(_ configuration: Configuration, _ fields: HTTPFields) {
        self.configuration = configuration
        self.fields = fields
    }

    /// Prints what it finds.
    ///
    /// - Returns: Whether all is as it should be; a note is no fault.
    func run() async -> Bool {
        let findings = await backend() + [await state(), spool()]
        let terminal = Terminal()
        for line in findings.flatMap({ $0.lines(terminal) }) { Console.out(line) }
        return findings.allSatisfy(\.verdict.isPassed)
    }

    private func backend() async -> [CheckFinding] {
        do {
            let reactor = try CurlReactor.start(configuration.reactorSettings)
            let findings = await BackendCheck(configuration, fields: fields, reactor: reactor).run()
            await reactor.shutdown()
            return findings
        } catch {
            return [CheckFinding(.wrong, "\(error)")]
        }
    }

    /// Looks into a state without changing it; only one that is of this version and not in use is opened.
    private func state() async -> CheckFinding {
        let path = configuration.statePath
        let options = configuration.stateOptions
        do {
            guard let version = try await SQLiteStateStore.inspect(path: path, options: options) else {
                return newState(path)
            }
            let known = SchemaMigration.sqlite.last?.number ?? version
            guard version == known else {
                return CheckFinding(
                    .ok, "\(path) has schema version \(version); 'rind serve' will bring it to \(known)", of: "state")
            }
            let store = try await SQLiteStateStore.open(path: path, options: options)
            let result: Result<Void, any Error>
            do { result = .success(try await store.check(thoroughly: true)) } catch { result = .failure(error) }
            await store.close()
            try result.get()
            return CheckFinding(.ok, "\(path) is sound (schema version \(version))", of: "state")
        } catch StateError.inUse(_, let holder) {
            let process = holder.map { " (process \($0))" } ?? ""
            return CheckFinding(.ok, "\(path) is in use by a gateway that runs\(process)", of: "state")
        } catch let error as StateError {
            return CheckFinding(.wrong, "\(error.description) (\(error.code))", of: "state")
        } catch {
            return CheckFinding(.wrong, "\(error)", of: "state")
        }
    }

    private func newState(_ path: String) -> CheckFinding {
        let directory = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard access(directory, W_OK | X_OK) == 0 else {
            return CheckFinding(
                .wrong, "there is no state yet, and \(directory) takes no new file (state.open)", of: "state")
        }
        return CheckFinding(.ok, "there is no state yet; 'rind serve' will make \(path)", of: "state")
    }

    private func spool() -> CheckFinding {
        if let fault = configuration.spoolFault {
            return CheckFinding(.wrong, "\(fault) (spool.file)", of: "spool", hint: "make it, or set [spool] dir")
        }
        return CheckFinding(
            .ok, "\(configuration.spoolDirectory) takes files", of: "spool")
    }
}
