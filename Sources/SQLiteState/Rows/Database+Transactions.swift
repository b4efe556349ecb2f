// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

extension Database {
    /// Runs one transaction and commits it; any error rolls it back.
    func commit<T>(_ body: () throws -> T) throws -> T {
        // GRDB's own transactions compile these two each time.
        try step("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try step("COMMIT")
            return value
        } catch {
            try? rollback()
            throw error
        }
    }

    /// Runs what writes, and does not wait for the disk.
    func withoutWaiting<T>(_ body: () throws -> T) throws -> T {
        try execute(sql: "PRAGMA synchronous = NORMAL")
        defer {
            let isRestored = (try? execute(sql: "PRAGMA synchronous = FULL")) != nil
            precondition(isRestored, "a state that cannot promise durability must not go on")
        }
        return try body()
    }
}
