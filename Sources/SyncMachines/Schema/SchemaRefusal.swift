// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The reason why a pull is refused for its schema version: a mistake of the app, which more syncs would hide.
package enum SchemaRefusal: Error, Hashable, Sendable {
    /// The client's data are of a newer version than the client says it is (LS > CV).
    case wentBack(from: Int, to: Int)
    /// Migrations are enabled from a version on that the client has not reached (MEA > CV).
    case migrationsEnabledLater(at: Int, client: Int)

    /// The stable code for answers, log and metrics.
    package var code: String {
        switch self {
        case .wentBack: "schema.went_back"
        case .migrationsEnabledLater: "schema.migrations_enabled_at"
        }
    }

    /// The sentence for the client's developers.
    package var message: String {
        switch self {
        case .wentBack(let from, let to):
            "The last sync was of schema version \(from), and the app now says it is of \(to). Versions never fall."
        case .migrationsEnabledLater(let version, let client):
            "Migrations are enabled from schema version \(version) on, and the app is of \(client)."
        }
    }
}
