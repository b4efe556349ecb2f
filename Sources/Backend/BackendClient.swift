// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import Gzip
import HTTPTypes
import JSONBytes
import NIOCore
package import SyncModel

/// Speaks the backend's protocol: streams, checkpoints, single calls and stream pushes.
///
/// It keeps nothing between calls but connections, and never decides anything: what a failure means is the caller's.
package struct BackendClient: Sendable {
    /// The most bytes of an error's body that are kept for the log.
    static let keptErrorBytes = 2_048

    /// What the configuration says.
    package let settings: BackendSettings
    let reactor: CurlReactor

    /// A client of one backend.
    package init(settings: BackendSettings, reactor: CurlReactor) {
        self.settings = settings
        self.reactor = reactor
    }

    /// Opens a stream of these request types from the vector on.
    ///
    /// - Parameters:
    ///   - types: What is asked for.
    ///   - vector: Travels in the request where its template has `{checkpoints}` or `{acks}`.
    ///   - credentials: Whose stream it is.
    /// - Returns: The bytes as they come; drop it to end the stream.
    /// - Throws: ``BackendError``.
    package func openStream(
        types: [String], vector: CheckpointVector, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> BackendStream {
        let values: [String: JSONValue] = [
            "types": .array(types.map { .string($0) }),
            "checkpoints": .object(vector.namespaces.map { .init($0, .string(vector[$0] ?? "")) }),
            "acks": .array(vector.namespaces.map { .string(vector[$0] ?? "") }),
        ]
        var request = try request(settings.stream, CallValues(values), credentials)
        request.fields[.accept] = "application/jsonlines+json, application/x-ndjson, application/json;q=0.5"
        // Never brotli: it buffers megabytes before the first line comes out.
        request.fields[.acceptEncoding] = "gzip"
        request.timeouts = settings.streamTimeouts
        // A stream changes nothing, so a dead connection may be replaced quietly.
        request.isIdempotent = true
        let response = try await send(request)
        try await checkStatus(response)
        return try BackendStream(response, limit: settings.streamBytes)
    }

    /// Reads one value of a JSON answer, such as the user's id in the answer to a who-am-I.
    ///
    /// - Returns: A string or number as text; nil where there is nothing at the path.
    /// - Throws: ``BackendError``.
    package func value(
        of call: Call, at path: Path, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> String? {
        var request = try request(call, CallValues([:]), credentials)
        request.fields[.accept] = "application/json"
        let response = try await send(request)
        try await checkStatus(response)
        guard let value = try await document(response)[path] else { return nil }
        return value.string ?? value.number?.spelling
    }

    /// Makes a request of a template.
    func request(
        _ call: Call, _ values: CallValues, _ credentials: ForwardedCredentials, body: [UInt8]? = nil
    ) throws(BackendError) -> CurlRequest {
        guard let method = HTTPRequest.Method(rawValue: call.method) else { throw .notConfigured(call.method) }
        var request = CurlRequest(method: method, url: settings.url + values.fill(target: call.target))
        request.fields = credentials.fields
        request.timeouts = settings.callTimeouts
        if let body = body ?? call.body.map({ values.fill($0).serialised }) {
            request.body = .bytes(ByteBuffer(bytes: body))
            request.fields[.contentType] = "application/json"
        }
        return request
    }

    func send(_ request: CurlRequest) async throws(BackendError) -> CurlResponse {
        do {
            return try await reactor.execute(request)
        } catch {
            throw .transport(error)
        }
    }

    /// Throws for everything but 2xx, with what the status means.
    func checkStatus(_ response: CurlResponse) async throws(BackendError) {
        let status = response.status.code
        switch status {
        case 200..<300: return
        case 401: throw .unauthorized
        case 403: throw .forbidden
        case 429, 503: throw .busy(status: status, retryAfter: Self.retryAfter(response.fields))
        default:
            let body = await errorBody(response)
            if status >= 500 { throw .failed(status: status, body: body) }
            throw .refused(status: status, body: body)
        }
    }

    /// The beginning of an error's body; what cannot be read is empty, since the status says enough.
    func errorBody(_ response: CurlResponse) async -> String {
        var bytes: [UInt8] = []
        do throws(CurlError) {
            for try await chunk in response.body {
                bytes += chunk.readableBytesView.prefix(Self.keptErrorBytes - bytes.count)
                if bytes.count >= Self.keptErrorBytes { break }
            }
        } catch {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The whole body as JSON.
    func document(_ response: CurlResponse) async throws(BackendError) -> JSONValue {
        let bytes = try await BackendStream(response, limit: settings.answerBytes).collect()
        do {
            return try JSONValue.parse(
                bytes,
                limits: JSONValue.Limits(bytes: settings.answerBytes, depth: settings.depth, elements: 1_000_000))
        } catch {
            throw .unexpectedAnswer("\(error)")
        }
    }

    /// Seconds of a `Retry-After` field that counts them; a date is left to the caller's own pause.
    static func retryAfter(_ fields: HTTPFields) -> Int? {
        guard let name = HTTPField.Name("retry-after") else { return nil }
        return fields[name].flatMap { Int($0) }.map { min(max($0, 0), 86_400) }
    }
}
