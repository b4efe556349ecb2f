// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import HTTPTypes
import Hummingbird
import NIOCore

extension DemoRoutes {
    /// Serves `POST /sync/push`: one transaction, and one answer for each idempotency key.
    func push(_ request: Request) async throws -> Response {
        let caller = try await caller(of: request)
        let buffer = try await request.body.collect(upTo: backend.configuration.maximumBody)
        let text = String(buffer: buffer)
        let push = try Push(
            lines: text, acceptsClientIDs: backend.configuration.acceptsClientIDs, makeID: store.ids.next)
        let answers = StoredAnswers(request: request, userID: caller.userID, body: text, now: backend.clock.now)
        let rejections = backend.log.rejections
        let answer = try await store.write { db in
            if let stored = try answers.find(in: db) { return stored }
            var answer = Push.Answer(status: 500, body: "")
            try db.inSavepoint {
                let writer = RecordWriter(db: db, userID: caller.userID)
                answer = try push.apply(with: RecordGuard(writer: writer, rejections: rejections))
                return answer.status == 200 ? .commit : .rollback
            }
            try answers.keep(answer, in: db)
            return answer
        }
        return answer.response
    }
}

extension Push.Answer {
    var response: Response {
        Response(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}

/// The answers that were given under an idempotency key, so that a repeated request is not carried out again.
struct StoredAnswers: Sendable {
    private let userID: String
    private let key: String?
    private let digest: String
    private let now: Int64

    init(request: Request, userID: String, body: String, now: Int64) {
        self.userID = userID
        self.now = now
        key = HTTPField.Name("Idempotency-Key").flatMap { request.headers[$0] }
        digest = Self.digest(of: "\(request.method) \(request.uri.path)\n\(body)")
    }

    /// Returns the answer that was given before; nil if there is none.
    ///
    /// - Throws: A 422 if the key was used for another request.
    func find(in db: Database) throws -> Push.Answer? {
        guard let key else { return nil }
        let row = try Row.fetchOne(
            db, sql: "SELECT digest, status, body FROM answers WHERE user_id = ? AND key = ?",
            arguments: [userID, key])
        guard let row else { return nil }
        guard row["digest"] == digest else {
            throw DemoError.unprocessable("this idempotency key was used for another request")
        }
        return Push.Answer(status: row["status"], body: row["body"])
    }

    func keep(_ answer: Push.Answer, in db: Database) throws {
        guard let key else { return }
        try db.execute(
            sql: "INSERT INTO answers (user_id, key, digest, status, body, made_at) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [userID, key, digest, answer.status, answer.body, now])
    }

    /// Returns the FNV-1a hash and the length: enough to tell a client's mistake from a repetition.
    private static func digest(of text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\(text.utf8.count)-\(hash)"
    }
}
