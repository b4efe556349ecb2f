// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import JSONBytes
package import SyncModel

// Checkpoints that the backend keeps for each session (`docs/BACKEND-PROTOCOL.md`).
extension BackendClient {
    /// The most checkpoints that a list may have.
    private static let maximumListed = 10_000

    /// Sets checkpoints, in as many calls as `ack_batch` asks for.
    ///
    /// Calling it again with the same tokens does no harm. A reset token must be sent alone: it makes the backend drop
    /// every other token of its call.
    ///
    /// - Throws: ``BackendError``; any part of the tokens may then be set.
    package func acknowledge(_ tokens: [String], _ credentials: ForwardedCredentials) async throws(BackendError) {
        guard let call = settings.ack else { throw .notConfigured("ack") }
        var rest = tokens[...]
        while !rest.isEmpty {
            let batch = rest.prefix(settings.ackBatch)
            rest = rest.dropFirst(settings.ackBatch)
            try await perform(call, ["acks": .array(batch.map { .string($0) })], credentials)
        }
    }

    /// The checkpoints that the backend holds for the session.
    package func list(_ credentials: ForwardedCredentials) async throws(BackendError) -> CheckpointVector {
        guard let call = settings.list else { throw .notConfigured("list") }
        var request = try request(call, CallValues([:]), credentials)
        request.fields[.accept] = "application/json"
        let response = try await send(request)
        try await checkStatus(response)
        guard let entries = try await document(response).array, entries.count <= Self.maximumListed else {
            throw .unexpectedAnswer("the list of checkpoints is no array, or a very long one")
        }
        var vector = CheckpointVector()
        for entry in entries {
            guard let token = entry[settings.ackField]?.string else {
                throw .unexpectedAnswer("a listed checkpoint has no '\(settings.ackField)'")
            }
            vector.advance(to: Checkpoint(token: token, lineType: entry[settings.typeField]?.string ?? ""))
        }
        return vector
    }

    /// Deletes the checkpoints of these namespaces; of none, it does nothing.
    package func forget(
        namespaces: [String], _ credentials: ForwardedCredentials
    ) async throws(BackendError) {
        guard !namespaces.isEmpty else { return }
        guard let call = settings.forget else { throw .notConfigured("forget") }
        try await perform(call, ["namespaces": .array(namespaces.map { .string($0) })], credentials)
    }

    /// Deletes all checkpoints of the session: the same call without the member that names namespaces.
    package func forgetAll(_ credentials: ForwardedCredentials) async throws(BackendError) {
        guard let call = settings.forget else { throw .notConfigured("forget") }
        try await perform(call, [:], credentials)
    }

    private func perform(
        _ call: Call, _ values: [String: JSONValue], _ credentials: ForwardedCredentials
    ) async throws(BackendError) {
        var request = try request(call, CallValues(values), credentials)
        // Setting the same tokens or deleting the same namespaces again changes nothing.
        request.isIdempotent = true
        let response = try await send(request)
        try await checkStatus(response)
        // The body is of no interest, but reading it lets the connection be used again.
        _ = try? await response.body.collect(upTo: Self.keptErrorBytes)
    }
}
