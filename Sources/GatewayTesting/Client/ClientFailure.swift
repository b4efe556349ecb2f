// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The reason why a sync or an edit failed on the client.
package enum ClientFailure: Error, Hashable, Sendable {
    /// The answer's body isn't JSON.
    case notJSON
    /// JavaScript's own error: something that must be there is missing or null.
    case typeError(String)
    /// The timestamp is no number above zero; the whole pull is refused.
    case invalidTimestamp
    /// Another sync finished in between.
    case concurrentSync
    /// The strategy is none that the library knows.
    case invalidStrategy
    /// A record is no object, has no `id`, or has `_status` or `_changed`.
    case invalidRecord(table: String)
    /// A record that is to be inserted has a member `__proto__`.
    case maliciousRecord(table: String)
    /// An entry of `deleted` is no string.
    case invalidDeletedID(table: String)
    /// A row was prepared twice, or in a sync that failed; the app must be restarted.
    case cannotUpdatePending(ClientKey)
    /// A row is updated and deleted by one answer; the app must be restarted.
    case cannotDestroyPending(ClientKey)
    /// One id inserted twice.
    case duplicateID(ClientKey)
    /// The LokiJS adapter doesn't work any more until the app is restarted.
    case adapterBroken
    /// There is no such row, or it is deleted.
    case noSuchRecord(ClientKey)
    /// There is no such table or column in the app's schema.
    case noSuchColumn(String)
    /// `migrationsEnabledAtVersion` and the schema versions don't go together.
    case migration(String)

    /// The library's message, where it has one.
    package var message: String {
        switch self {
        case .notJSON: "JSON Parse error"
        case .typeError(let what): "TypeError: \(what)"
        case .invalidTimestamp: "pullChanges() returned invalid timestamp. timestamp must be a non-zero number"
        case .concurrentSync: "[Sync] Concurrent synchronization is not allowed."
        case .invalidStrategy: "[Sync] Invalid pull strategy"
        case .invalidRecord: "[Sync] Invalid raw record supplied to Sync."
        case .maliciousRecord: "Malicious dirtyRaw detected"
        case .invalidDeletedID(let table): "an entry of 'deleted' of \(table) is no string"
        case .cannotUpdatePending: "Cannot update a record with pending changes"
        case .cannotDestroyPending(let key): "Cannot destroy permanently record with pending changes (\(key))"
        case .duplicateID(let key): "UNIQUE constraint failed: \(key.table).id"
        case .adapterBroken: "Duplicate key for property id"
        case .noSuchRecord(let key): "there is no \(key)"
        case .noSuchColumn(let name): "there is no column \(name)"
        case .migration(let text): text
        }
    }
}

/// A line that the library writes to its error log before it goes on.
package enum ClientLogEntry: Hashable, Sendable {
    /// The server wants to create a row that exists; it is updated instead.
    case createdExists(ClientKey)
    /// The server wants to create a row that is marked as deleted; it comes back.
    case createdIsDeleted(ClientKey)
    /// The server wants to update a row that isn't there; it is created instead.
    case updatedIsUnknown(ClientKey)
    /// `sendCreatedAsUpdated` is set, and the server sends something in `created`.
    case createdDespiteFlag(table: String)
    /// The server's time went back.
    case timestampWentBack(from: Double, to: Double)
    /// The answer has a table that the app doesn't know.
    case unknownTable(String)
    /// A schema version is stored, and yet this is the first sync.
    case schemaVersionBeforeFirstSync
}
