// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore

/// What a call has come to.
enum TrialOutcome<T: Hashable & Sendable>: Hashable {
    case value(T)
    case error(StateError)

    init(_ store: Accounts, _ call: (Accounts) async throws -> T) async throws {
        do { self = .value(try await call(store)) } catch let error as StateError { self = .error(error) }
    }
}
