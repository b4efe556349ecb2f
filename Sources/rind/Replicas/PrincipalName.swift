// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import StateStore
import SyncModel

/// A principal as an operator names it: the digits that the log shows, or any unique prefix of them.
struct PrincipalName {
    private let digits: String

    /// Reads digits that stand in the command line.
    init(validating text: String) throws {
        let digits = text.lowercased()
        guard (4...64).contains(digits.utf8.count), ReplicaName.isHexadecimal(digits) else {
            throw ValidationError(
                "'\(text.shown(upTo: 80))' is no principal: write 4 hexadecimal digits of it, or more.")
        }
        self.digits = digits
    }

    /// Finds the one principal of this name.
    ///
    /// - Throws: ``CommandFailure`` where there is none, and one that names those meant where there are several.
    func find(in store: Accounts) async throws -> Principal {
        let found = try await store.inspection.principals(beginningWith: digits, limit: 6)
        if found.count == 1 { return found[0] }
        guard !found.isEmpty else {
            throw CommandFailure(
                .noInput,
                "There is no principal \(digits) in the state. 'rind replicas list' shows whose replicas there are.")
        }
        let names = found.prefix(5).map(\.description).joined(separator: ", ") + (found.count > 5 ? ", …" : "")
        throw CommandFailure(
            .usage, "\(digits) is the beginning of several principals: \(names). Name more digits.")
    }
}
