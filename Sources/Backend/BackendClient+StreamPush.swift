// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import HTTPTypes
import JSONBytes
import NIOCore

extension BackendClient {
    /// Sends operations as one request that the backend applies in one transaction or not at all.
    ///
    /// The backend keeps the answer under the key for at least 24 hours: the same operations may be sent again under
    /// the same key, and are not applied twice.
    ///
    /// - Parameters:
    ///   - operations: Lines as ``StreamPushOperation/append(to:)`` makes them. They should have a length: many servers
    ///     read nothing of a body that comes in chunks, and answer as if it were empty.
    ///   - count: The number of lines. An answer with a result for any other line is malformed, and one that applies
    ///     them must have a result for each (docs/BACKEND-PROTOCOL.md, 8.6).
    ///   - key: The idempotency key: 1 to 255 visible ASCII characters, reused for the same operations only.
    ///   - credentials: The caller's.
    /// - Returns: The results of the lines: either all operations were applied, or none.
    /// - Throws: ``BackendError``; if its ``BackendError/isOutcomeUnknown`` is true, the push may have been applied:
    ///   send it again with the same key.
    package func pushStream(
        _ operations: CurlRequest.Body, count: Int, key: String, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> StreamPushResult {
        guard let call = settings.streamPush else { throw .notConfigured("push") }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidCall("the idempotency key is not 1 to 255 visible characters")
        }
        return try await telling(of: .push, call, as: credentials) { () throws(BackendError) in
            try await send(call, CallValues(), as: credentials, adjust: { $0.push(operations, key: key) }) {
                try await result(of: $0, count, credentials)
            }
        }
    }

    private func result(
        of response: CurlResponse, _ count: Int, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> StreamPushResult {
        let status = response.status.code
        guard status == 200 || status == 409 || status == 422 else {
            try await requireSuccess(response, credentials)
            await drain(response)
            throw .unexpectedStatus(status)
        }
        // At most one sentence for each line.
        let limit = min(settings.maximumPushAnswerBytes, 64 << 10 + count << 10)
        let answer = try await BackendStream(response, limit: limit).collect()
        let lines = try StreamPushAnswer(count: count).lines(in: answer)
        let refused = lines.filter { $0.outcome != .ok }
        guard status == 200 else {
            guard !refused.isEmpty else { throw .malformedAnswer("the push is refused, and no line is") }
            return .refused(refused)
        }
        guard refused.isEmpty else { throw .malformedAnswer("the push is applied, and a line is refused") }
        // Who has not read a line has no result for it: the line may be lost.
        guard lines.count == count else { throw .resultsMissing(count - lines.count, of: count) }
        return .applied(lines)
    }
}
