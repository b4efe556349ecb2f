// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// A reader of the requests of unchanged clients, in every shape that apps were found to give them.
///
/// The headers that state the body's type make no difference: apps send JSON as `text/plain` (the documentation's
/// `fetch` with a string body), as a form, as octets and without any type.
package struct RequestReader: Sendable {
    /// The names and paths of this deployment.
    package let dialect: WireDialect

    /// Creates a reader for a dialect.
    package init(dialect: WireDialect) { self.dialect = dialect }

    /// Reads one request, or throws an error that says in one sentence why it is not understood; reading changes
    /// nothing.
    ///
    /// On a path for both, a `POST` is a push if its body has `changes` or every value in it has `created`, `updated`
    /// and `deleted`; without a body, with `{}` or with a pull's arguments alone it is a pull; otherwise it is refused,
    /// because a 2xx makes a client believe that all it sent was accepted.
    ///
    /// - Parameters:
    ///   - method: The method in capital letters.
    ///   - route: The result of ``WireDialect/route(_:)``.
    ///   - query: The query after the question mark, still percent-encoded; empty if there is none.
    ///   - body: The decompressed body, with or without a byte order mark.
    ///   - versions: The values of the header field ``WireDialect/schemaVersionField``. A number there is the client's
    ///     schema version regardless of query and body.
    /// - Returns: The pull or push.
    /// - Throws: ``WireError``, to be answered with its status and sentence. Nothing may be changed then.
    package func read(
        method: String, route: WireDialect.Route, query: String, body: [UInt8], versions: [String] = []
    ) throws(WireError) -> ClientRequest {
        guard route.allowedMethods.contains(method) else { throw .method(allowed: route.allowedMethods) }
        let head = Head(
            parameters: try QueryParameters(query, limit: dialect.limits.queryParameters),
            schemaVersion: try .schemaVersion(fields: versions))
        guard let content = try RequestBody(body, dialect: dialect) else {
            if route == .push { throw .changesMissing }
            return .pull(pull(try arguments(head, readsMigration: true)))
        }
        let isGet = method == "GET"
        return try content.withValue { (value, origin) throws(WireError) -> ClientRequest in
            if value.isNull, isGet || route == .pull {
                return .pull(pull(try arguments(head, readsMigration: true)))
            }
            guard value.kind == .object else { throw wrongKind(value, route: route) }
            let outline = BodyOutline(value, dialect: dialect)
            if isGet || route == .pull {
                guard !outline.hasChanges else { throw .changesInPull }
            } else if route == .push || outline.hasChanges {
                let tables = try readTables(outline, of: value, origin, bytes: content.bytes)
                return .push(try push(head, outline, changes: tables))
            } else if !outline.isPlainPull {
                throw .bodyShape
            }
            var arguments = try arguments(head, readsMigration: true)
            for (kind, value) in outline.arguments { try arguments.merge(kind, value) }
            return .pull(pull(arguments))
        }
    }

    /// The arguments of a request before its body.
    private struct Head {
        let parameters: QueryParameters
        let schemaVersion: Stated<Int>
    }

    private func arguments(_ head: Head, readsMigration: Bool) throws(WireError) -> Arguments {
        try Arguments(
            query: head.parameters, schemaVersion: head.schemaVersion, dialect: dialect, readsMigration: readsMigration)
    }

    private func wrongKind(_ value: JSONSlice, route: WireDialect.Route) -> WireError {
        guard route == .push else { return .bodyShape }
        return value.isNull ? .changesMissing : .changesNoObject
    }

    private func pull(_ arguments: Arguments) -> PullRequest {
        PullRequest(
            lastPulledAt: arguments.lastPulledAt.value.map { .cursor($0) } ?? .never,
            schemaVersion: arguments.schemaVersion.value, migration: arguments.migration.value)
    }

    private func push(
        _ head: Head, _ outline: BodyOutline, changes: PushChanges
    ) throws(WireError) -> PushRequest {
        var arguments = try arguments(head, readsMigration: false)
        for (kind, value) in outline.arguments { try arguments.merge(kind, value) }
        return PushRequest(
            lastPulledAt: arguments.lastPulledAt.value, schemaVersion: arguments.schemaVersion.value, changes: changes)
    }

    private func readTables(
        _ outline: BodyOutline, of object: JSONSlice, _ origin: DocumentOrigin, bytes: [UInt8]
    ) throws(WireError) -> PushChanges {
        switch try outline.changes() {
        case .bare:
            let tables = try PushChangesReader.tables(of: object, in: origin, limits: dialect.limits) {
                ArgumentKind.named($0, in: dialect) != nil && !$1.isChangeSet
            }
            return PushChanges(bytes: bytes, tables: tables)
        case .set(let set):
            let tables = try PushChangesReader.table(
                dialect.pushTable ?? "", set: set, in: origin, limits: dialect.limits)
            return PushChanges(bytes: bytes, tables: tables)
        case .envelope(let value):
            guard let text = value.text else {
                return PushChanges(bytes: bytes, tables: try tables(inEnvelope: value, origin))
            }
            let tables = try RequestBody.withDocument(text, maximumDepth: dialect.limits.jsonDepth) {
                (value, origin) throws(WireError) in try self.tables(inEnvelope: value, origin)
            }
            return PushChanges(bytes: text, tables: tables)
        }
    }

    private func tables(
        inEnvelope value: JSONSlice, _ origin: DocumentOrigin
    ) throws(WireError) -> [PushedTable] {
        guard !value.isNull else { throw .changesMissing }
        guard value.kind == .object else { throw .changesNoObject }
        if let table = dialect.pushTable, value.isChangeSet {
            return try PushChangesReader.table(table, set: value, in: origin, limits: dialect.limits)
        }
        return try PushChangesReader.tables(of: value, in: origin, limits: dialect.limits)
    }
}
