// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The reason why a request is not understood or not allowed; the request changes nothing.
package struct WireError: Error, Hashable, Sendable {
    /// The stable code, for the `Rind-Error` field, log and metrics.
    package enum Code: String, CaseIterable, Sendable {
        /// 405: no such method on this path; see ``WireError/allowedMethods``.
        case method = "request.method"
        /// 400: too many parameters in the query.
        case tooManyParameters = "request.too_many_parameters"
        /// 400: `lastPulledAt` is present but no time; answering with a first pull would hide the app's error.
        case lastPulledAt = "request.last_pulled_at"
        /// 400: `lastPulledAt` is stated twice, with different values.
        case lastPulledAtTwice = "request.last_pulled_at_twice"
        /// 400: the schema version is present but no version, or stated twice with different values.
        case schemaVersion = "request.schema_version"
        /// 400: the migration is present but unreadable; ignoring it would lose columns permanently, because the client
        /// then counts its new schema version as synced.
        case migration = "request.migration"
        /// 400: the body is not JSON.
        case notJSON = "request.not_json"
        /// 400: the body is nested deeper than ``WireDialect/Limits/jsonDepth``.
        case tooDeep = "request.too_deep"
        /// 400: the body has no value at ``WireDialect/bodyPath``.
        case bodyPath = "request.body_path"
        /// 400: the body is neither a pull nor a push.
        case bodyShape = "request.body_shape"
        /// 400: the body of a pull carries changes; a 2xx would make the client believe that they were accepted.
        case changesInPull = "request.changes_in_pull"
        /// 400: a push without changes.
        case changesMissing = "request.changes_missing"
        /// 400: the changes do not have the form of changes.
        case changesShape = "request.changes_shape"
        /// 400: a table name is one that no schema can have, or appears twice.
        case tableName = "request.table_name"
        /// 400: a record is no object, or has no text as `id`.
        case recordID = "request.record_id"
        /// 400: one id appears twice in one table.
        case idTwice = "request.id_twice"
        /// 400: the address lacks a part that calls to the backend need, such as a parameter of `[wire] scope`.
        case scopeMissing = "request.scope_missing"
        /// 400: such a part is hostile, or stated twice with different values.
        case scopeValue = "request.scope"
        /// 413: more tables than ``WireDialect/Limits/tables``.
        case tooManyTables = "request.too_many_tables"
        /// 413: more records than ``WireDialect/Limits/records``.
        case tooManyRecords = "request.too_many_records"

        /// The HTTP status of an answer with this code.
        package var status: Int {
            switch self {
            case .method: 405
            case .tooManyTables, .tooManyRecords: 413
            default: 400
            }
        }
    }

    /// The error's code.
    package var code: Code
    /// One short sentence for users, since apps show it to them.
    package var message: String
    /// The methods for the `Allow` field of a 405; else empty.
    package var allowedMethods: [String] = []

    /// The HTTP status to answer.
    package var status: Int { code.status }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension WireError {
    static func method(allowed: [String]) -> WireError {
        var error = WireError(.method, "This address takes \(allowed.joined(separator: " and ")) requests only.")
        error.allowedMethods = allowed
        return error
    }

    static func tooManyParameters(limit: Int) -> WireError {
        WireError(.tooManyParameters, "The request has more than \(limit) parameters.")
    }

    static let lastPulledAt = WireError(.lastPulledAt, "The time of the last sync can't be read.")
    static let lastPulledAtTwice = WireError(
        .lastPulledAtTwice, "The request tells two different times of the last sync.")
    static let schemaVersion = WireError(.schemaVersion, "The schema version must be a whole number above zero.")
    static let schemaVersionTwice = WireError(.schemaVersion, "The request tells two different schema versions.")
    static let migration = WireError(
        .migration, "The migration must hold 'from' (a number), 'tables' (a list) and 'columns' (a list).")
    static let migrationTwice = WireError(.migration, "The request tells two different migrations.")

    static func migrationTooLong(limit: Int) -> WireError {
        WireError(.migration, "The migration names more than \(limit) tables and columns.")
    }

    static func migrationName(_ name: String) -> WireError {
        WireError(.migration, "The migration can't ask for '\(name.shortened)'.")
    }

    static func scopeMissing(_ part: ScopeName) -> WireError {
        WireError(.scopeMissing, "The address doesn't say which \(part.said) the sync is about.")
    }

    static func scopeValue(_ part: ScopeName, _ reason: String) -> WireError {
        WireError(.scopeValue, "What the address says as \(part.said) \(reason).")
    }

    static func scopeTwice(_ part: ScopeName) -> WireError {
        WireError(.scopeValue, "The address says two different things as \(part.said).")
    }

    static let notJSON = WireError(.notJSON, "The request's body is not JSON.")

    static func tooDeep(limit: Int) -> WireError {
        WireError(.tooDeep, "The request's body is nested deeper than \(limit) levels.")
    }

    static let bodyPath = WireError(.bodyPath, "The request's body has nothing where its content is expected.")
    static let bodyShape = WireError(.bodyShape, "The request is neither a pull nor a push.")
    static let changesInPull = WireError(.changesInPull, "Changes were sent to an address that only gives them out.")
    static let changesMissing = WireError(.changesMissing, "The request brings no changes.")
    static let changesNoObject = WireError(.changesShape, "The changes must be an object with a member for each table.")
    static let changesTwice = WireError(.changesShape, "The request brings its changes twice.")
    static let tableUnknown = WireError(.changesShape, "The request doesn't say which table its changes belong to.")

    static func setShape(_ table: String) -> WireError {
        WireError(.changesShape, "The table '\(table.shortened)' must hold the lists created, updated and deleted.")
    }

    static func tableName(_ table: String) -> WireError {
        WireError(.tableName, "A table can't be called '\(table.shortened)'.")
    }

    static func tableTwice(_ table: String) -> WireError {
        WireError(.tableName, "The table '\(table.shortened)' stands twice in the changes.")
    }

    static func recordID(_ table: String) -> WireError {
        WireError(.recordID, "A record of the table '\(table.shortened)' has no text as its id.")
    }

    static func deletedID(_ table: String) -> WireError {
        WireError(.recordID, "The deleted records of the table '\(table.shortened)' must be listed by their ids.")
    }

    static func idTwice(_ table: String, _ id: String) -> WireError {
        WireError(.idTwice, "The id '\(id.shortened)' stands twice in the table '\(table.shortened)'.")
    }

    static func tooManyTables(limit: Int) -> WireError {
        WireError(.tooManyTables, "The request names more than \(limit) tables.")
    }

    static func tooManyRecords(limit: Int) -> WireError {
        WireError(.tooManyRecords, "The request brings more than \(limit) records at once.")
    }
}

extension ScopeName {
    /// The name as a sentence has it; it is the configuration's, so it is no foreign text.
    fileprivate var said: String {
        switch source {
        case .path: "'\(name)' (a segment of its path)"
        case .query: "'\(name)' (a parameter of its query)"
        }
    }
}

extension String {
    /// The text in a form for sentences that users read: without control characters, and cut to 40 characters.
    ///
    /// Names come from outside; their contents must not break a log line or a label on a screen.
    var shortened: String {
        let shown = unicodeScalars.filter {
            $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) && !$0.properties.isDefaultIgnorableCodePoint
        }
        let text = String(String.UnicodeScalarView(shown.prefix(40)))
        return shown.count > 40 ? text + "…" : text
    }
}
