// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import SQLiteState
import StateStore

extension Configuration {
    /// Opens the state beside a gateway that may be running, passes it to the body, and always closes it.
    func withState<R>(
        for purpose: SQLiteStateStore.Purpose, _ body: (SQLiteStateStore) async throws -> R
    ) async throws -> R {
        let store = try await SQLiteStateStore.openShared(path: statePath, for: purpose, options: stateOptions)
        let result: Result<R, any Error>
        do { result = .success(try await body(store)) } catch { result = .failure(error) }
        await store.close()
        return try result.get()
    }
}
