// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
package import JSONBytes
package import SyncModel

extension BackendClient {
    /// Cuts tokens into batches, one for each call of ``acknowledge(_:_:)``; no tokens are no batch.
    package func ackBatches(of tokens: [String]) -> [[String]] {
        let size = max(1, settings.ackBatch)
        return stride(from: 0, to: tokens.count, by: size).map { Array(tokens[$0..<min($0 + size, tokens.count)]) }
    }

    /// Sets the checkpoints of one of the batches of ``ackBatches(of:)`` in one call.
    ///
    /// This may move the backend backwards. The token of a reset must come alone: the backend drops all others in the
    /// same call. After an error the position is unknown.
    ///
    /// - Throws: ``BackendError/ackRefused(status:)`` if there is no such call, and other errors of the backend.
    package func acknowledge(
        _ batch: [String], _ credentials: ForwardedCredentials
    ) async throws(BackendError) {
        guard let call = settings.acknowledge else { throw .notConfigured("ack") }
        try await telling(of: .ack, call, as: credentials) { () throws(BackendError) in
            do throws(BackendError) {
                try await change(call, ["acks": .array(batch.map { .string($0) })], as: credentials)
            } catch {
                // If these counted as refused tokens, every pull would begin with a full stream.
                switch error {
                case .refused(let status) where status == 404 || status == 405: throw .ackRefused(status: status)
                case .failed(status: 501): throw .ackRefused(status: 501)
                default: throw error
                }
            }
        }
    }

    /// Returns the checkpoints that the backend holds for the caller's session, by the tokens' own namespaces.
    ///
    /// - Returns: The vector.
    /// - Throws: ``BackendError/malformedAnswer(_:)`` if the answer is not an array of types and tokens, or exceeds the
    ///   limits.
    package func list(_ credentials: ForwardedCredentials) async throws(BackendError) -> CheckpointVector {
        guard let call = settings.list else { throw .notConfigured("list") }
        return try await telling(of: .list, call, as: credentials) { () throws(BackendError) in
            let response = try await send(call, CallValues(), as: credentials)
            try await requireSuccess(response, credentials)
            return try settings.vector(in: try await json(response, limit: settings.maximumAnswerBytes))
        }
    }

    /// Makes the backend forget the checkpoints of these namespaces; for none, sends nothing.
    ///
    /// If this throws, the position is unknown.
    package func forget(
        namespaces: [String], _ credentials: ForwardedCredentials
    ) async throws(BackendError) {
        guard let call = settings.forget else { throw .notConfigured("forget") }
        guard !namespaces.isEmpty else { return }
        try await telling(of: .forget, call, as: credentials) { () throws(BackendError) in
            try await change(call, ["namespaces": .array(namespaces.map { .string($0) })], as: credentials)
        }
    }

    /// Makes the backend forget all checkpoints of the caller's session.
    ///
    /// The call's template loses the member with `{namespaces}`: some backends would refuse an empty list.
    package func forgetAll(_ credentials: ForwardedCredentials) async throws(BackendError) {
        guard let call = settings.forget else { throw .notConfigured("forget") }
        try await telling(of: .forget, call, as: credentials) { () throws(BackendError) in
            try await change(call, [:], as: credentials)
        }
    }

    /// Makes a call that is idempotent and whose answer does not matter.
    private func change(
        _ call: Call, _ values: [String: JSONValue], as credentials: ForwardedCredentials
    ) async throws(BackendError) {
        let response = try await send(call, CallValues(values), as: credentials) { $0.isIdempotent = true }
        try await requireSuccess(response, credentials)
        await drain(response)
    }
}

extension BackendSettings {
    /// Reads an answer to the call `list`.
    ///
    /// - Throws: ``BackendError/malformedAnswer(_:)``, as ``BackendClient/list(_:)``.
    package func vector(in answer: JSONValue) throws(BackendError) -> CheckpointVector {
        let array = list?.returns.map { answer.value(at: $0) } ?? answer
        guard let entries = array?.array else { throw .malformedAnswer("the list of checkpoints is no array") }
        guard entries.count <= maximumCheckpoints else {
            throw .malformedAnswer("there are more than \(maximumCheckpoints) checkpoints")
        }
        var vector = CheckpointVector()
        for entry in entries {
            guard let type = entry[typeField]?.string, let token = entry[ackField]?.string,
                !type.isEmpty, !token.isEmpty
            else { throw .malformedAnswer("a checkpoint lacks its type or its token") }
            guard token.utf8.count <= maximumTokenBytes else {
                throw .malformedAnswer("a token has more than \(maximumTokenBytes) bytes")
            }
            vector.advance(to: Checkpoint(token: token, lineType: type))
        }
        return vector
    }
}
