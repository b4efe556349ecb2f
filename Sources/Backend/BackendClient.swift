// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import HTTPTypes
import JSONBytes
package import Logging
import NIOCore
package import SyncModel
import Telemetry

/// Speaks the backend's protocol on behalf of one caller at a time.
///
/// It holds no state and makes no decisions: each method makes one exchange, or a few of the same kind, with the
/// credential that it is given. The beginning of an error body is logged at debug.
package struct BackendClient: Sendable {
    /// The logger for calls that fail and the bodies of errors.
    package var logger: Logger
    private let parts: BackendParts

    /// The configuration of the exchanges with the backend.
    package var settings: BackendSettings { parts.settings }
    private var transport: any HTTPTransport { parts.transport }
    private var clock: any WallClock { parts.clock }

    /// The number of bytes of an error's body that are logged.
    static let loggedBytes = 2048
    /// The most bytes that are read: of an error's body, and of an unneeded body to keep its connection.
    static let drainedBytes = 64 * 1024

    /// The breaker that keeps calls from a backend that is down; nil if all calls are made.
    package var breaker: BackendBreaker? { parts.breaker }

    /// Creates a client of one backend.
    package init(
        settings: BackendSettings, transport: any HTTPTransport, clock: any WallClock,
        breaker: BackendBreaker? = nil, logger: Logger = Logger(label: "rind.backend")
    ) {
        parts = BackendParts(settings, transport, clock: clock, breaker: breaker)
        self.logger = logger
    }

    /// Makes the request of a call and returns the answer, whatever its status.
    func send(
        _ call: Call, _ values: CallValues, as credentials: ForwardedCredentials,
        adjust: (inout CurlRequest) -> Void = { _ in }
    ) async throws(BackendError) -> CurlResponse {
        try await send(CallRequest(call, values, in: credentials.scope), as: credentials, adjust: adjust)
    }

    /// Makes a complete request and returns the answer, whatever its status.
    func send(
        _ call: CallRequest, as credentials: ForwardedCredentials, adjust: (inout CurlRequest) -> Void
    ) async throws(BackendError) -> CurlResponse {
        let request = try request(call, as: credentials, adjust: adjust)
        let ticket = try breaker?.begin(for: credentials)
        do {
            let response = try await transport.execute(request)
            ticket?.end(status: response.status.code)
            return response.noted()
        } catch {
            ticket?.end(error)
            SyncTrace.noteCall(status: nil)
            throw BackendError(sending: error)
        }
    }

    /// Makes the request of a call and passes the answer to `use`, while a streamed body is still being sent.
    func send<Result>(
        _ call: Call, _ values: CallValues, as credentials: ForwardedCredentials,
        adjust: (inout CurlRequest) -> Void, use: (CurlResponse) async throws -> Result
    ) async throws(BackendError) -> Result {
        let request = try request(CallRequest(call, values, in: credentials.scope), as: credentials, adjust: adjust)
        let ticket = try breaker?.begin(for: credentials)
        defer { ticket?.abandon() }
        do {
            return try await transport.perform(request) { response in
                ticket?.end(status: response.status.code)
                return try await use(response.noted())
            }
        } catch let error as BackendError {
            throw error
        } catch let error as CurlError {
            ticket?.end(error)
            throw BackendError(sending: error)
        } catch {
            throw .transport(.cancelled)
        }
    }

    private func request(
        _ call: CallRequest, as credentials: ForwardedCredentials, adjust: (inout CurlRequest) -> Void
    ) throws(BackendError) -> CurlRequest {
        guard let method = HTTPRequest.Method(rawValue: call.method) else {
            throw .invalidCall("\(call.method) is no method")
        }
        var request = CurlRequest(
            method: method, url: settings.baseURL + call.target, fields: credentials.fields,
            timeouts: settings.callTimeouts)
        if request.fields[.userAgent] == nil { request.fields[.userAgent] = "rind" }
        request.fields[.accept] = "application/json"
        request.passOnTrace()
        if let body = call.body {
            request.body = .bytes(ByteBuffer(bytes: body))
            request.fields[.contentType] = "application/json"
        }
        adjust(&request)
        return request
    }

    /// Throws the error for a status other than 2xx, and logs the beginning of its body.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - credentials: The credentials that were sent: some backends repeat them in errors, and they must not be
    ///     logged.
    ///   - types: The request types; if the answer names some of them, the error does, too.
    /// - Throws: The error for the status.
    func requireSuccess(
        _ response: CurlResponse, _ credentials: ForwardedCredentials, types: [String] = []
    ) async throws(BackendError) {
        guard response.status.kind != .successful else { return }
        throw await refusal(of: response, credentials, types: types).error
    }

    /// Returns the error for an answer that is not a success, and the beginning of its body, which is logged.
    func refusal(
        of response: CurlResponse, _ credentials: ForwardedCredentials, types: [String] = []
    ) async -> (error: BackendError, body: String) {
        let body = await beginning(of: response)
        // Masking takes time, and the backend and the client decide how much.
        if logger.logLevel <= .debug {
            let shown = credentials.masked(in: ForeignText.cut(body, to: Self.loggedBytes))
            logger.debug(
                "the backend answered with an error",
                metadata: ["backend_status": "\(response.status.code)", "backend_body": "\(shown)"])
        }
        if response.status.code == 400 {
            let named = types.filter { body.containsWord($0) }
            if !named.isEmpty { return (.typesRefused(named), body) }
        }
        return (BackendError(response.status, response.fields), body)
    }

    /// Reads the answer as JSON.
    func json(_ response: CurlResponse, limit: Int) async throws(BackendError) -> JSONValue {
        let body = try await BackendStream(response, limit: limit).collect()
        do {
            let limits = JSONValue.Limits(bytes: limit, elements: max(100_000, limit / 8))
            return try JSONValue.parse(Array(body.readableBytesView), limits: limits)
        } catch {
            let type = response.fields[.contentType].map { ForeignText.cut($0, to: 100) }
            throw .malformedAnswer("it is no JSON\(type.map { " but \($0)" } ?? ""): \(error)")
        }
    }

    /// Reads an unneeded body, so that the connection can be used again; stops at a long one.
    func drain(_ response: CurlResponse) async {
        var total = 0
        var iterator = response.body.makeAsyncIterator()
        while total <= Self.drainedBytes, let chunk = try? await iterator.next() { total += chunk.readableBytes }
    }

    /// Returns the first bytes of a body as text; errors in the body do not matter here.
    private func beginning(of response: CurlResponse) async -> String {
        let bytes = await bytes(of: response, upTo: Self.drainedBytes, within: settings.errorBodyTimeout).bytes
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The way in which the reading of a body's beginning has ended.
    enum BeginningEnd {
        case whole
        /// The limit of bytes or time was reached.
        case cut
        case broken
    }

    /// Returns the first bytes of a body that come in time, and the way in which they end.
    func bytes(
        of response: CurlResponse, upTo limit: Int, within timeout: Duration
    ) async -> (bytes: [UInt8], end: BeginningEnd) {
        guard let stream = try? BackendStream(response, limit: 16 * limit) else { return ([], .cut) }
        return await withTaskGroup(of: (bytes: [UInt8], end: BeginningEnd)?.self) { group in
            group.addTask {
                var collected = ByteBuffer()
                var iterator = stream.makeAsyncIterator()
                var end = BeginningEnd.cut
                do {
                    while collected.readableBytes <= limit {
                        guard var chunk = try await iterator.next() else {
                            end = .whole
                            break
                        }
                        collected.writeBuffer(&chunk)
                    }
                } catch {
                    // The bytes until then are the result.
                    if !Task.isCancelled { end = .broken }
                }
                return (Array(collected.readableBytesView.prefix(limit)), end)
            }
            group.addTask { [clock] in
                try? await clock.wait(milliseconds: timeout.milliseconds)
                return nil
            }
            // The task that ends first cancels the other; a cancelled reader returns what it has.
            var read: (bytes: [UInt8], end: BeginningEnd) = ([], .cut)
            for await result in group {
                if let result { read = result }
                group.cancelAll()
            }
            return read
        }
    }
}

extension BackendError {
    fileprivate init(sending error: CurlError) {
        // The placeholders' values are checked before; any other fault is the configuration's or the caller's.
        if case .invalidRequest(let text) = error { self = .invalidCall(text) } else { self = .transport(error) }
    }
}

extension String {
    /// Returns true if the text contains this name as a whole word, not as part of a longer one.
    func containsWord(_ word: String) -> Bool {
        var rest = self[...]
        var before: Character?
        while let range = rest.firstRange(of: word) {
            if range.lowerBound > rest.startIndex { before = rest[rest.index(before: range.lowerBound)] }
            let after = range.upperBound < rest.endIndex ? rest[range.upperBound] : nil
            if ![before, after].contains(where: { $0.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false }) {
                return true
            }
            before = rest[rest.index(before: range.upperBound)]
            rest = rest[range.upperBound...]
        }
        return false
    }
}
