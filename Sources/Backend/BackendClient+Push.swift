// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import HTTPTypes
import JSONBytes
import NIOCore
import SyncModel

// Stream push: all operations in one request, applied in one transaction (`docs/BACKEND-PROTOCOL.md`).
extension BackendClient {
    /// The most refused records that are read from an answer.
    private static let maximumRefused = 10_000

    /// Sends all operations of a push in one request.
    ///
    /// - Parameters:
    ///   - idempotencyKey: The same for repetitions of this very push, so that it is applied once.
    ///   - credentials: Whose push it is.
    ///   - produce: Writes the lines, one JSON object each.
    /// - Returns: What it came to; `unknown` may be sent again with the same key.
    /// - Throws: ``BackendError`` where it is certain that nothing was applied.
    package func pushStream(
        idempotencyKey: String, _ credentials: ForwardedCredentials,
        produce: @escaping @Sendable (CurlUploadWriter) async throws -> Void
    ) async throws(BackendError) -> StreamPushResult {
        guard let call = settings.push else { throw .notConfigured("push path") }
        var request = try request(call, CallValues([:]), credentials)
        request.body = .stream(length: nil, produce: produce)
        request.fields[.contentType] = "application/jsonlines+json"
        request.fields[.accept] = "application/json"
        if let name = HTTPField.Name("idempotency-key") { request.fields[name] = idempotencyKey }
        do throws(BackendError) {
            let response = try await send(request)
            switch response.status.code {
            case 200..<300:
                // The status says it all; an answer that breaks off after it changes nothing.
                _ = try? await response.body.collect(upTo: settings.answerBytes)
                return .applied
            case 409: return .conflict(try await refused(response))
            case 422: return .rejected(try await refused(response))
            default:
                try await checkStatus(response)
                return .applied
            }
        } catch {
            guard error.leavesOutcomeUnknown else { throw error }
            return .unknown(BackendError.Summary(error))
        }
    }

    /// The records that an answer names; none where it is not as the protocol says, since the status says enough.
    private func refused(_ response: CurlResponse) async throws(BackendError) -> [StreamPushResult.Refused] {
        guard let answer = try? await document(response) else { return [] }
        return (answer["results"]?.array ?? []).prefix(Self.maximumRefused).map { result in
            StreamPushResult.Refused(
                line: result["line"]?.int64.flatMap { Int(exactly: $0) }, table: result["table"]?.string,
                id: result["id"]?.string, message: result["message"]?.string.map { String($0.prefix(200)) })
        }
    }
}
