// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// The context of one request: its connection, and the faults of its stream.
struct DemoContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    var streamFault: DemoFault.Stream?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// The backend's endpoints.
struct DemoRoutes {
    let backend: DemoBackend

    var store: DemoStore { backend.store }

    var responder: RouterResponder<DemoContext> {
        let router = Router(context: DemoContext.self)
        router.add(middleware: DemoGate(backend: backend))
        addSync(to: router)
        addAccounts(to: router)
        addREST(to: router)
        addTaskTags(to: router)
        addFiles(to: router)
        if backend.configuration.allowsSteering { addSteering(to: router) }
        return router.buildResponder()
    }

    /// Returns the caller whose session a request belongs to.
    ///
    /// - Throws: A 401 if there is no such session.
    func caller(of request: Request) async throws -> Accounts.Caller {
        guard let token = token(of: request) else { throw DemoError.unauthenticated }
        let now = backend.clock.now
        guard let caller = try await store.write({ try Accounts.caller(token: token, at: now, in: $0) }) else {
            throw DemoError.unauthenticated
        }
        return caller
    }

    /// Returns the JSON body of a request; nil if the body is not JSON.
    func body(of request: Request) async throws -> DemoValue? {
        let buffer = try await request.body.collect(upTo: backend.configuration.maximumBody)
        return DemoValue(parsing: buffer.readableBytesView)
    }

    /// Returns the members of a request's JSON object.
    ///
    /// - Throws: A 400 for anything else.
    func members(of request: Request) async throws -> [String: DemoValue] {
        guard let members = try await body(of: request)?.object else {
            throw DemoError.badRequest("body must be a JSON object")
        }
        return members
    }

    /// Returns the access token: the text after the scheme `Bearer`, or `Basic`, whose user and password are one token
    /// here; else a configured header field or the cookie.
    private func token(of request: Request) -> String? {
        if let header = request.headers[.authorization] {
            let parts = header.split(separator: " ", maxSplits: 1)
            if parts.count == 2, ["bearer", "basic"].contains(parts[0].lowercased()) {
                return parts[1].trimmingPrefix { $0 == " " }.description
            }
        }
        for name in backend.configuration.tokenHeaders.compactMap({ HTTPField.Name($0) }) {
            if let token = request.headers[name] { return token }
        }
        for cookie in request.headers[values: .cookie].flatMap({ $0.split(separator: ";") }) {
            let pair = cookie.split(separator: "=", maxSplits: 1)
            if pair.count == 2, pair[0].trimmingPrefix(while: { $0 == " " }) == "demo_access_token" {
                return String(pair[1])
            }
        }
        return nil
    }
}
