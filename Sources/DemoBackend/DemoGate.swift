// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// The middleware in front of every endpoint: the request log, the faults, and errors in the backend's form.
struct DemoGate: RouterMiddleware {
    let backend: DemoBackend

    @concurrent func handle(
        _ request: Request, context: DemoContext,
        next: @concurrent (Request, DemoContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        if path.hasPrefix("/_demo/") { return try await Self.answering { try await next(request, context) } }
        backend.log.count(underWay: 1)
        defer { backend.log.count(underWay: -1) }
        var request = request
        var text = ""
        var tooLarge = false
        if !path.hasPrefix("/files") {
            do {
                text = String(buffer: try await request.collectBody(upTo: backend.configuration.maximumBody))
            } catch is NIOTooManyBytesError {
                tooLarge = true
            }
        }
        var entry = entry(for: request, body: text)
        let fault = backend.log.takeFault(for: entry)
        entry.fault = fault
        let number = backend.log.append(entry)
        let present = request
        let response = try await Self.answering {
            if tooLarge { throw DemoError(status: .contentTooLarge, message: "request entity too large") }
            return try await carryOut(present, context: context, fault: fault, next: next)
        }
        guard let response else {
            try? await context.channel.close().get()
            return Response(status: .internalServerError)
        }
        backend.log.setStatus(response.status.code, of: number)
        return response
    }

    /// Returns the answer under the request's fault; nil if it is to be lost.
    private func carryOut(
        _ request: Request, context: DemoContext, fault: DemoFault.Action?,
        next: @concurrent (Request, DemoContext) async throws -> Response
    ) async throws -> Response? {
        switch fault {
        case nil: return try await next(request, context)
        case .status(let code, let retryAfter, let message)?:
            throw Self.failure(code, retryAfter: retryAfter, message: message)
        case .statusAfterwards(let code)?:
            _ = try await Self.answering { try await next(request, context) }
            throw Self.failure(code)
        case .success(let body)?:
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: body)))
        case .loseRequest?: return nil
        case .loseAnswer?:
            _ = try await Self.answering { try await next(request, context) }
            return nil
        case .delay(let milliseconds)?:
            try await Task.sleep(for: .milliseconds(milliseconds))
            return try await next(request, context)
        case .stream(let fault)?:
            var context = context
            context.streamFault = fault
            return try await next(request, context)
        }
    }

    private static func failure(
        _ code: Int, retryAfter: Int? = nil, message: String = "this request was told to fail"
    ) -> DemoError {
        var error = DemoError(status: .init(code: code), message: message)
        if let retryAfter { error.headers[.retryAfter] = String(retryAfter) }
        return error
    }

    private func entry(for request: Request, body: String) -> DemoRequest {
        let headers = request.headers.map { ($0.name.canonicalName, $0.value) }
        return DemoRequest(
            method: request.method.rawValue, path: request.uri.path, query: request.uri.query ?? "",
            headers: Dictionary(headers) { _, last in last }, body: body)
    }

    private static func answering(_ body: () async throws -> Response) async throws -> Response {
        try await answering { try await body() as Response? } ?? Response(status: .internalServerError)
    }

    private static func answering(_ body: () async throws -> Response?) async throws -> Response? {
        do {
            return try await body()
        } catch let error as DemoError {
            return error.response
        } catch let error as HTTPError {
            return DemoError(status: error.status, message: error.body ?? error.status.reasonPhrase).response
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return DemoError.internal("Internal server error: \(error)").response
        }
    }
}
