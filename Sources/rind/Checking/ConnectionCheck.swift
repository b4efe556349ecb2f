// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Foundation
import Gateway
import GatewayConfig
import StateStore

/// Tries what a configuration names: the backend, the state, the spool's directory.
struct ConnectionCheck {
    private enum Finding {
        case good(String)
        case bad(String)
    }

    private let configuration: Configuration
    private let terminal = Terminal()

    init(_ configuration: Configuration) { self.configuration = configuration }

    /// Prints a line for each.
    ///
    /// - Returns: Whether all are as they should be.
    func run() async -> Bool {
        var isGood = true
        for (name, finding) in [("backend", await backend()), ("state", await state()), ("spool", spool())] {
            switch finding {
            case .good(let text): Console.out("\(terminal.green("ok"))     \(name.padded(to: 9))\(text)")
            case .bad(let text):
                isGood = false
                Console.out("\(terminal.red("wrong"))  \(name.padded(to: 9))\(text)")
            }
        }
        return isGood
    }

    private func backend() async -> Finding {
        do {
            let reactor = try CurlReactor.start(configuration.reactorSettings)
            let client = BackendClient(settings: configuration.backendSettings, reactor: reactor)
            let status: Result<Int, BackendError>
            do throws(BackendError) { status = .success(try await client.probe()) } catch { status = .failure(error) }
            await reactor.shutdown()
            let code = try status.get()
            guard code < 500 else { return .bad("\(configuration.backend.url) answers with status \(code)") }
            return .good("\(configuration.backend.url) answers (status \(code), without a credential)")
        } catch let error as BackendError {
            return .bad("\(configuration.backend.url): \(error) (\(error.code))")
        } catch {
            return .bad("\(error)")
        }
    }

    /// Looks into a state without changing it; only one that is of this version and not in use is opened.
    private func state() async -> Finding {
        let path = configuration.statePath
        let options = configuration.stateOptions
        do {
            guard let version = try await SQLiteStateStore.inspect(path: path, options: options) else {
                return newState(path)
            }
            let known = SchemaMigration.sqlite.last?.number ?? version
            guard version == known else {
                return .good("\(path) has schema version \(version); 'rind serve' will bring it to \(known)")
            }
            let store = try await SQLiteStateStore.open(path: path, options: options)
            let result: Result<Void, any Error>
            do { result = .success(try await store.check(thoroughly: true)) } catch { result = .failure(error) }
            await store.close()
            try result.get()
            return .good("\(path) is sound (schema version \(version))")
        } catch StateError.inUse(_, let holder) {
            return .good("\(path) is in use by a gateway that runs\(holder.map { " (process \($0))" } ?? "")")
        } catch let error as StateError {
            return .bad("\(error.description) (\(error.code))")
        } catch {
            return .bad("\(error)")
        }
    }

    private func newState(_ path: String) -> Finding {
        let directory = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard access(directory, W_OK | X_OK) == 0 else {
            return .bad("there is no state yet, and \(directory) takes no new file (state.open)")
        }
        return .good("there is no state yet; 'rind serve' will make \(path)")
    }

    private func spool() -> Finding {
        let directory = configuration.spool.dir ?? Configuration.temporaryDirectory
        guard access(directory, W_OK | X_OK) == 0 else { return .bad("\(directory) takes no files (spool.file)") }
        return .good("\(directory) takes files")
    }
}
