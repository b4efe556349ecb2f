// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import JSONBytes
import NIOConcurrencyHelpers
import NIOCore

/// Speaks HTTP for the simulated backend: the paths of `WorldConfiguration`, in memory.
///
/// Every call, every line and every query of a stream is a moment in which anything else may happen.
struct WorldTransport: HTTPTransport {
    let backend: WorldBackend
    let life: GatewayLife
    let time: VirtualTime
    /// The milliseconds after which a call is given up, if it has not been made by then.
    let timeout: Int64

    func execute(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
        var body = ByteBuffer()
        switch request.body {
        case .none: break
        case .bytes(let bytes): body = bytes
        case .stream(_, let produce): body = try await Self.collect(produce)
        }
        try await pass(.call("\(request.method) \(request.url.dropFirst(WorldConfiguration.url.count))"))
        let sync = WorldSync.current
        if sync?.take(.lostRequest) == true { throw .closed("the request was lost") }
        let answer = try respond(to: request, Array(body.readableBytesView))
        await Task.yield()
        await life.wait()
        try checkLife()
        if sync?.take(.lostAnswer) == true { throw .closed("the answer was lost") }
        return answer
    }

    func perform<Result>(
        _ request: CurlRequest, _ use: (CurlResponse) async throws -> Result
    ) async throws -> Result {
        try await use(execute(request))
    }

    /// Lets anything else happen; one who is dead comes no further.
    private func pass(_ moment: WorldMoment) async throws(CurlError) {
        let began = time.uptime
        await WorldSync.reach(moment)
        await life.wait()
        try checkLife()
        if case .call = moment, time.uptime - began > timeout { throw .timeout(.total) }
    }

    private func checkLife() throws(CurlError) { if life.isDead || Task.isCancelled { throw .cancelled } }

    private static func collect(
        _ produce: @Sendable (CurlUploadWriter) async throws -> Void
    ) async throws(CurlError) -> ByteBuffer {
        let collected = NIOLockedValueBox(ByteBuffer())
        do {
            try await produce(
                CurlUploadWriter { (chunk) async throws(CurlError) in
                    collected.withLockedValue { _ = $0.writeImmutableBuffer(chunk) }
                })
        } catch {
            throw .upload(error)
        }
        return collected.withLockedValue { $0 }
    }

    private func respond(to request: CurlRequest, _ body: [UInt8]) throws(CurlError) -> CurlResponse {
        let session = String(request.fields[.authorization]?.dropFirst("Bearer ".count) ?? "")
        let path = String(request.url.dropFirst(WorldConfiguration.url.count))
        switch (request.method, path) {
        case (.get, "/me"): return json(#"{"id":"user"}"#)
        case (.post, "/sync/stream"): return stream(body, session)
        case (.post, "/sync/push"): return try push(body, key: request.fields[.idempotencyKey] ?? "")
        case (.get, "/sync/ack"):
            let checkpoints = backend.users.backend.checkpoints(session: session)
            let entries = checkpoints.sorted { $0.key < $1.key }.map { name, token in
                JSONValue.object([.init("type", .string(name)), .init("ack", .string(token))])
            }
            return json(.array(entries))
        case (.post, "/sync/ack"):
            backend.users.backend.acknowledge(Self.texts(in: body, "acks") ?? [], session: session)
            return json("{}", status: .created)
        case (.delete, "/sync/ack"):
            backend.users.backend.forget(Self.texts(in: body, "types"), session: session)
            return json("{}")
        default: return try call(request.method, path, body: body)
        }
    }

    /// Applies one operation of a push by calls: `PUT /tasks/t1`, or `POST /tasks` if the backend makes the id.
    private func call(
        _ method: HTTPRequest.Method, _ path: String, body: [UInt8]
    ) throws(CurlError) -> CurlResponse {
        let parts = path.split(separator: "/")
        let data = try? JSONValue.parse(body)
        let clientID = method == .post ? data?["clientId"]?.string : nil
        let named = parts.count == 2 ? String(parts[1]) : clientID
        guard let table = SimulatedTable.allCases.first(where: { $0.name == parts.first ?? "" }), let named else {
            return json("{}", status: .notFound)
        }
        let key = backend.users.backend.ids.key(table, named)
        let isThere = backend.users.backend.rows[key] != nil
        // A record that has an id of the backend's is not to be found under any other.
        let isKnown = isThere && (clientID != nil || backend.users.backend.ids.id(of: key) == named)
        if method != .put, method != .post, !isKnown { return json("{}", status: .notFound) }
        var operation = backend.operation(on: key, data: data, isDeletion: method == .delete)
        operation.clientID = clientID
        let sync = WorldSync.current
        switch sync?.doubtful == key ? sync?.outcome ?? .answered : .answered {
        case .answered, .answerLost:
            backend.apply(operation)
            guard clientID != nil else { return json("{}") }
            return json(#"{"id":"\#(backend.users.backend.ids.id(of: key))"}"#, status: .created)
        case .refused: return json(#"{"message":"no"}"#, status: .unprocessableContent)
        case .doubtful:
            backend.apply(operation)
            if clientID != nil { backend.users.backend.unanswered.insert(key) }
        // A creation that arrives once Rind has looked for it in vain makes a second record (docs/IDS.md).
        case .late: if clientID == nil { backend.delay([operation]) }
        case .lost: break
        }
        throw .closed("the answer was lost")
    }

    private static func texts(in body: [UInt8], _ name: String) -> [String]? {
        (try? JSONValue.parse(body))?[name]?.array?.compactMap(\.string)
    }

    private func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> CurlResponse {
        var writer = JSONWriter()
        writer.append(value)
        return answer(writer.bytes, status)
    }

    private func json(_ text: String, status: HTTPResponse.Status = .ok) -> CurlResponse {
        answer(Array(text.utf8), status)
    }

    private func answer(_ bytes: [UInt8], _ status: HTTPResponse.Status) -> CurlResponse {
        let rest = NIOLockedValueBox(Optional(ByteBuffer(bytes: bytes)))
        return CurlResponse(
            status: status, fields: [.contentType: "application/json"],
            body: CurlBody { () async throws(CurlError) in rest.withLockedValue { $0.take() } })
    }

    private func stream(_ body: [UInt8], _ session: String) -> CurlResponse {
        let types = Self.texts(in: body, "types") ?? []
        let carried = (try? JSONValue.parse(body))?["checkpoints"]?.members
        if let refused = backend.users.backend.refusal(of: types) {
            let names = refused.map { #""\#($0)""# }.joined(separator: ",")
            return json(#"{"message":"unknown types","types":[\#(names)]}"#, status: .badRequest)
        }
        WorldSync.current?.looks(at: backend.users.backend.counter)
        let lines = WorldStream(
            backend: backend, types: types, session: carried == nil ? session : nil,
            carried: carried.map { members in
                Dictionary(members.map { ($0.name, $0.value.string ?? "") }, uniquingKeysWith: { $1 })
            } ?? [:])
        return CurlResponse(
            status: .ok, fields: [.contentType: "application/jsonlines+json"],
            body: CurlBody { () async throws(CurlError) in
                while true {
                    try await pass(.line)
                    if WorldSync.current?.takeCut() == true { throw .closed("the stream was cut") }
                    switch lines.next() {
                    case .nothing: continue
                    case .line(let bytes): return ByteBuffer(bytes: bytes)
                    case .end: return nil
                    }
                }
            })
    }

    private func push(_ body: [UInt8], key: String) throws(CurlError) -> CurlResponse {
        let operations = WorldBackend.operations(in: body)
        func results(_ outcome: String) -> String {
            operations.indices.map { #"{"line":\#($0),"outcome":"\#(outcome)"}"# }.joined(separator: ",")
        }
        let applied = json(#"{"results":[\#(results("ok"))]}"#)
        switch WorldSync.current?.outcome ?? .answered {
        case .answered, .answerLost:
            backend.apply(operations, key: key)
            return applied
        case .refused: return json(#"{"results":[\#(results("rejected"))]}"#, status: .unprocessableContent)
        case .doubtful: backend.apply(operations, key: key)
        case .late: if backend.isNew(key) { backend.delay(operations) }
        case .lost: break
        }
        throw .closed("the answer was lost")
    }
}

extension HTTPField.Name {
    fileprivate static var idempotencyKey: HTTPField.Name { HTTPField.Name("Idempotency-Key") ?? .contentType }
}
