// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import Gateway
import GatewayConfig
import StateStore
import SyncModel

/// The principal that a command is about: by the digits of the log, or as the backend names its users.
struct PrincipalArgument: ParsableArguments {
    @Option(help: ArgumentHelp("This principal: its first digits, at least 4.", valueName: "digits"))
    var principal: String?

    @Option(
        help: ArgumentHelp("This user: the id that '[identity] principal' finds.", valueName: "id"))
    var user: String?

    /// True if no principal is named.
    var isEmpty: Bool { principal == nil && user == nil }

    func validate() throws {
        if let principal { _ = try PrincipalName(validating: principal) }
        guard principal == nil || user == nil else {
            throw ValidationError("'--principal' and '--user' exclude each other.")
        }
        if user?.isEmpty == true { throw ValidationError("'--user' takes the id of a user.") }
    }

    /// Finds the principal; nil if none is named.
    ///
    /// - Throws: ``CommandFailure`` if the principal is not in the state, or if users have no ids by the configuration.
    func find(
        in store: Accounts, _ configuration: GatewayConfig.Configuration
    ) async throws -> Principal? {
        if let principal { return try await PrincipalName(validating: principal).find(in: store) }
        guard let user else { return nil }
        guard let named = PrincipalNaming(configuration).principal(ofUser: user) else {
            throw CommandFailure(
                .usage,
                "'[identity] principal' has no ids of users, so '--user' cannot find one: only 'backend:…', 'jwt:…' "
                    + "and 'header:…' have. Use '--principal' with the digits of the log.")
        }
        let found = try await store.inspection.principals(beginningWith: named.rawValue, limit: 1).first
        guard found?.owner == named.owner else {
            throw CommandFailure(
                .noInput,
                "The state has no user '\(user.shown(upTo: 80))' (principal \(named)): they have not synced, or with "
                    + "another '[identity] key'.")
        }
        return named
    }
}
