// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of plain REST: one record a request, without transactions across requests.
extension DemoRoutes {
    func addREST(to router: Router<DemoContext>) {
        for entity in Entity.all where entity.keys.count == 1 {
            router.post("/\(entity.name)") { request, _ in try await create(entity, request) }
            router.get("/\(entity.name)/:id") { request, context in
                try await read(entity, id: try entity.key(ofPath: context.parameters.require("id")), request)
            }
            router.patch("/\(entity.name)/:id") { request, context in
                try await update(entity, id: try entity.key(ofPath: context.parameters.require("id")), request)
            }
            router.delete("/\(entity.name)/:id") { request, context in
                try await delete(entity, id: try entity.key(ofPath: context.parameters.require("id")), request)
            }
        }
    }

    private func create(_ entity: Entity, _ request: Request) async throws -> Response {
        let caller = try await caller(of: request)
        let body = try await members(of: request)
        let given = backend.configuration.acceptsClientIDs && !entity.isNumbered ? body["id"]?.string : nil
        let made = given ?? store.ids.next()
        let answers = StoredAnswers(
            request: request, userID: caller.userID, body: DemoValue.object(body).json, now: backend.clock.now)
        let answer = try await perform(for: caller) { records, db in
            if let stored = try answers.find(in: db) { return stored }
            let id = try entity.isNumbered ? records.insert(entity, data: body) : made
            if !entity.isNumbered {
                if try records.writer.exists(entity, key: [id]) {
                    throw DemoError(status: .conflict, message: "a record of this id exists already")
                }
                try records.create(entity, key: [id], data: body)
            }
            let answer = Push.Answer(status: 201, body: try stored(entity, id: id, in: db).json)
            try answers.keep(answer, in: db)
            return answer
        }
        return answer.response
    }

    private func read(_ entity: Entity, id: String, _ request: Request) async throws -> Response {
        let caller = try await caller(of: request)
        let record = try await perform(for: caller) { records, db in
            guard try records.isVisible(entity, key: [id]) else { throw missing }
            return try stored(entity, id: id, in: db)
        }
        return response(of: record)
    }

    private func update(_ entity: Entity, id: String, _ request: Request) async throws -> Response {
        let caller = try await caller(of: request)
        let body = try await members(of: request)
        let version = request.headers[.ifMatch]
        let record = try await perform(for: caller) { records, db in
            guard try records.isVisible(entity, key: [id]) else { throw missing }
            try checkVersion(of: entity, id: id, ifMatch: version, records)
            try records.update(entity, key: [id], data: body)
            return try stored(entity, id: id, in: db)
        }
        return response(of: record)
    }

    private func delete(_ entity: Entity, id: String, _ request: Request) async throws -> Response {
        let caller = try await caller(of: request)
        let version = request.headers[.ifMatch]
        try await perform(for: caller) { records, _ in
            guard try records.isVisible(entity, key: [id]) else { throw missing }
            try checkVersion(of: entity, id: id, ifMatch: version, records)
            try records.delete(entity, key: [id])
        }
        return Response(status: .noContent)
    }

    /// Runs one request's work in a transaction and turns refusals into error statuses.
    @discardableResult
    func perform<Value: Sendable>(
        for caller: Accounts.Caller, _ work: @escaping @Sendable (RecordGuard, Database) throws -> Value
    ) async throws -> Value {
        let rejections = backend.log.rejections
        do {
            return try await store.write { db in
                let writer = RecordWriter(db: db, userID: caller.userID)
                return try work(RecordGuard(writer: writer, rejections: rejections), db)
            }
        } catch let refusal as RecordGuard.Refusal {
            switch refusal.outcome {
            case .rejected: throw DemoError.badRequest(refusal.message)
            case .conflict: throw DemoError(status: .preconditionFailed, message: refusal.message)
            case .missing: throw missing
            }
        }
    }

    /// The error for a record that does not exist or that the user may not see; the two cannot be told apart.
    var missing: DemoError {
        DemoError(status: .init(code: backend.configuration.missingStatus), message: "Not found or no access")
    }

    private func checkVersion(of entity: Entity, id: String, ifMatch: String?, _ records: RecordGuard) throws {
        guard let ifMatch, ifMatch != "*" else { return }
        guard ifMatch == "\"\(try records.version(of: entity, key: [id]) ?? "")\"" else {
            throw DemoError(status: .preconditionFailed, message: "the record has changed since")
        }
    }

    private func stored(_ entity: Entity, id: String, in db: Database) throws -> DemoValue {
        let row = try Row.fetchOne(
            db, sql: "SELECT * FROM \(entity.name) WHERE \(entity.keyCondition)", arguments: [id])
        guard let row else { throw missing }
        var members = Dictionary(entity.members(of: row).map { ($0.name, $0.value) }) { $1 }
        members["version"] = .string(row["update_id"])
        return .object(members)
    }

    private func response(of record: DemoValue) -> Response {
        Response(json: record, headers: [.eTag: "\"\(record["version"]?.string ?? "")\""])
    }
}
