// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Stores what was deferred.
struct DeferredStorer {
    let accounts: Accounts

    /// Stores what was deferred of these replicas; throws the last error.
    ///
    /// An error of one part does not stop the others; one of the whole store does.
    func store(_ parts: [DeferredTable.Part]) async throws {
        var rest = parts[...]
        // What is there at the same time is committed together, where that spares anything.
        let width = accounts.store.commitsInGroups ? 64 : 2
        try await withThrowingTaskGroup(of: StateError?.self) { group in
            for part in rest.prefix(width) { group.addTask { try await store(part) } }
            rest = rest.dropFirst(width)
            var failure: StateError?
            while let result = try await group.next() {
                failure = result ?? failure
                guard let part = rest.popFirst() else { continue }
                try Task.checkCancellation()
                group.addTask { try await store(part) }
            }
            if let failure { throw failure }
        }
    }

    /// Stores what was deferred of some replicas of a principal; returns an error that is their own.
    ///
    /// It takes no turn: what others overtake again and again is stored by them, or by the next attempt.
    private func store(_ part: DeferredTable.Part) async throws -> StateError? {
        do {
            let end = try await accounts.attempt(part.principal) { try $0.storeDeferred(of: part.replicas) }
            try end?.get()
            return end == nil ? .busy : nil
        } catch StateError.corrupt {
            // The syncs of a damaged principal say so.
            accounts.deferred.drop(part.principal)
            return nil
        } catch let error as StateError where error == .busy || error.code == StateError.failed("").code {
            return error
        }
    }
}
