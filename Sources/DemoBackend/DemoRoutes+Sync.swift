// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

extension DemoRoutes {
    func addSync(to router: Router<DemoContext>) {
        router.post("/sync/stream") { request, context in
            try await stream(request, context: context, requiresCheckpoints: false)
        }
        router.post("/sync/stream-from") { request, context in
            try await stream(request, context: context, requiresCheckpoints: true)
        }
        router.get("/sync/ack") { request, _ in try await listAcks(request) }
        router.post("/sync/ack") { request, _ in try await setAcks(request) }
        router.delete("/sync/ack") { request, _ in try await deleteAcks(request) }
        router.post("/sync/push") { request, _ in try await push(request) }
    }

    private func stream(
        _ request: Request, context: DemoContext, requiresCheckpoints: Bool
    ) async throws -> Response {
        let caller = try await caller(of: request)
        let asked = try StreamRequest(body: try await body(of: request), requiresCheckpoints: requiresCheckpoints)
        try await backend.pruneOnceADay()
        var producer = try await StreamProducer(asked, caller: caller, of: backend)
        let first = try await producer.next()
        // The server must notice that a client has gone even while it writes nothing.
        try await context.channel.setOption(.allowRemoteHalfClosure, value: false).get()

        let compresses = backend.configuration.compresses && Self.acceptsGzip(request)
        var headers: HTTPFields = [.contentType: "application/jsonlines+json"]
        if compresses {
            headers[.contentEncoding] = "gzip"
            headers[.vary] = "Accept-Encoding"
        }
        let sender = StreamSender(
            producer: producer, first: first, channel: context.channel, fault: context.streamFault,
            compresses: compresses, sent: backend.sent)
        return Response(status: .ok, headers: headers, body: ResponseBody { try await sender.send(to: &$0) })
    }

    private func listAcks(_ request: Request) async throws -> Response {
        let session = try await caller(of: request).sessionID
        let acks = try await store.write { try Checkpoints.all(of: session, in: $0) }
        return Response(json: .array(acks.map { ["type": .string($0.key), "ack": .string($0.value)] }))
    }

    private func setAcks(_ request: Request) async throws -> Response {
        let session = try await caller(of: request).sessionID
        let acks = try strings(try await members(of: request)["acks"], name: "acks")
        try await store.write { try Checkpoints.set(acks, of: session, in: $0) }
        return Response(status: .noContent)
    }

    private func deleteAcks(_ request: Request) async throws -> Response {
        let session = try await caller(of: request).sessionID
        let types = try await body(of: request)?["types"].map { try strings($0, name: "types") }
        try await store.write { try Checkpoints.delete(types: types, of: session, in: $0) }
        return Response(status: .noContent)
    }

    private func strings(_ value: DemoValue?, name: String) throws -> [String] {
        guard let elements = value?.array else { throw DemoError.badRequest("\(name) must be an array") }
        return try elements.map { element in
            guard let text = element.string else {
                throw DemoError.badRequest("each value in \(name) must be a string")
            }
            return text
        }
    }

    private static func acceptsGzip(_ request: Request) -> Bool {
        request.headers[values: .acceptEncoding].contains { $0.lowercased().contains("gzip") }
    }
}
