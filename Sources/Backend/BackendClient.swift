// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import HTTPTypes
import JSONBytes
package import Logging
import NIOCore
package import SyncModel

/// Speaks the backend's protocol on behalf of one caller at a time.
///
/// It knows no state and takes no decisions: each method is one exchange, or a few of the same kind, made with the
/// credential that it is given. Error bodies go to the log at debug, cut; they never leave this module otherwise.
package struct BackendClient: Sendable {
    /// How the backend is spoken to.
    package let settings: BackendSettings
    /// Where error bodies go; a copy of the client with a request's own logger says whose they are.
    package var logger: Logger
    private let transport: any HTTPTransport
    private let clock: any WallClock

    /// How many bytes of an error's body are logged.
    static let loggedBytes = 2048
    /// How many bytes of an error's body are looked at, and how many of an unneeded one are read to keep a connection.
    static let drainedBytes = 64 * 1024

    /// A client of one backend.
    package init(
        settings: BackendSettings, transport: any HTTPTransport, clock: any WallClock,
        logger: Logger = Logger(label: "rind.backend")
    ) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        self.logger = logger
    }

    /// Makes the request of a call and gives the answer, whatever its status.
    func send(
        _ call: Call, _ values: CallValues, as credentials: ForwardedCredentials,
        adjust: (inout CurlRequest) -> Void = { _ in }
    ) async throws(BackendError) -> CurlResponse {
        try await send(CallRequest(call, values), as: credentials, adjust: adjust)
    }

    /// Makes a request that is put together already and gives the answer, whatever its status.
    func send(
        _ call: CallRequest, as credentials: ForwardedCredentials, adjust: (inout CurlRequest) -> Void
    ) async throws(BackendError) -> CurlResponse {
        let request = try request(call, as: credentials, adjust: adjust)
        do {
            return try await transport.execute(request)
        } catch {
            throw BackendError(sending: error)
        }
    }

    /// Makes the request of a call and hands the answer to `use`, while a body that is streamed is still being sent.
    func send<Result>(
        _ call: Call, _ values: CallValues, as credentials: ForwardedCredentials,
        adjust: (inout CurlRequest) -> Void, use: (CurlResponse) async throws -> Result
    ) async throws(BackendError) -> Result {
        let request = try request(CallRequest(call, values), as: credentials, adjust: adjust)
        do {
            return try await transport.perform(request, use)
        } catch let error as BackendError {
            throw error
        } catch let error as CurlError {
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
        if let body = call.body {
            request.body = .bytes(ByteBuffer(bytes: body))
            request.fields[.contentType] = "application/json"
        }
        adjust(&request)
        return request
    }

    /// Throws what a status other than 2xx means, and logs the beginning of its body.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - credentials: What was sent: some backends repeat it in their errors, and it stands in no log.
    ///   - types: The request types; where the answer names some of them, the error does, too.
    /// - Throws: What the status means.
    func requireSuccess(
        _ response: CurlResponse, _ credentials: ForwardedCredentials, types: [String] = []
    ) async throws(BackendError) {
        guard response.status.kind != .successful else { return }
        throw await refusal(of: response, credentials, types: types).error
    }

    /// What an answer that is no success means, and the beginning of its body, which is logged.
    func refusal(
        of response: CurlResponse, _ credentials: ForwardedCredentials, types: [String] = []
    ) async -> (error: BackendError, body: String) {
        let body = await beginning(of: response)
        // To mask takes time, and strangers decide how much.
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

    /// The answer as JSON.
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

    /// Reads what nobody needs, so that the connection can be used again; a long body is not worth it.
    func drain(_ response: CurlResponse) async {
        var total = 0
        var iterator = response.body.makeAsyncIterator()
        while total <= Self.drainedBytes, let chunk = try? await iterator.next() { total += chunk.readableBytes }
    }

    /// The first bytes of a body as text; what is wrong with the body does not matter here.
    private func beginning(of response: CurlResponse) async -> String {
        let bytes = await bytes(of: response, upTo: Self.drainedBytes, within: settings.errorBodyTimeout).bytes
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The first bytes of a body, as many as come in time, and whether that is all of it.
    func bytes(
        of response: CurlResponse, upTo limit: Int, within timeout: Duration
    ) async -> (bytes: [UInt8], isWhole: Bool) {
        guard let stream = try? BackendStream(response, limit: 16 * limit) else { return ([], false) }
        return await withTaskGroup(of: (bytes: [UInt8], isWhole: Bool)?.self) { group in
            group.addTask {
                var collected = ByteBuffer()
                var iterator = stream.makeAsyncIterator()
                var isWhole = false
                do {
                    while collected.readableBytes <= limit {
                        guard var chunk = try await iterator.next() else {
                            isWhole = true
                            break
                        }
                        collected.writeBuffer(&chunk)
                    }
                } catch {
                    // What has come by then is what there is.
                }
                return (Array(collected.readableBytesView.prefix(limit)), isWhole)
            }
            group.addTask { [clock] in
                try? await clock.wait(milliseconds: timeout.milliseconds)
                return nil
            }
            // Whoever is first ends the other; a reader that was ended gives what it has.
            var read: (bytes: [UInt8], isWhole: Bool) = ([], false)
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
        // The placeholders' values are checked before; what is left is the configuration's or the caller's fault.
        if case .invalidRequest(let text) = error { self = .invalidCall(text) } else { self = .transport(error) }
    }
}

extension String {
    /// Whether the text has this name in it, not as a part of a longer one.
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
