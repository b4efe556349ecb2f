// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import HTTPTypes
import Hummingbird
import NIOCore

extension DemoRoutes {
    func addAccounts(to router: Router<DemoContext>) {
        router.post("/auth/login") { request, _ in try await login(request) }
        router.get("/users/me") { request, _ in
            let user = try await caller(of: request).userID
            return Response(json: try await store.write { try Accounts.profile(of: user, in: $0) })
        }
        router.put("/sessions/me") { request, _ in try await updateSession(request) }
        router.get("/server/version") { _, _ in
            Response(json: ["major": 3, "minor": 1, "patch": 0, "prerelease": nil])
        }
    }

    private func login(_ request: Request) async throws -> Response {
        let body = try await members(of: request)
        guard let email = body["email"]?.string, let password = body["password"]?.string else {
            throw DemoError.badRequest("email and password must be strings")
        }
        let (now, id) = (backend.clock.now, store.ids.next())
        let token = try await store.write {
            try Accounts.login(email: email, password: password, at: now, id: id, in: $0)
        }
        guard let token else { throw DemoError(status: .unauthorized, message: "Incorrect email or password") }
        return Response(
            status: .created, json: ["accessToken": .string(token)],
            headers: [.setCookie: "demo_access_token=\(token); Path=/; HttpOnly; SameSite=Lax"])
    }

    private func updateSession(_ request: Request) async throws -> Response {
        let session = try await caller(of: request).sessionID
        guard let isPending = try await members(of: request)["isPendingSyncReset"]?.bool else {
            throw DemoError.badRequest("isPendingSyncReset must be a boolean value")
        }
        try await store.write { db in
            try db.execute(
                sql: "UPDATE sessions SET is_pending_reset = ? WHERE id = ?", arguments: [isPending, session])
        }
        return Response(json: ["id": .string(session), "isPendingSyncReset": .bool(isPending)])
    }
}
