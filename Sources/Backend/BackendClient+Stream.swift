// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import JSONBytes
package import SyncModel

extension BackendClient {
    /// Opens the stream of changes.
    ///
    /// This never asks for a reset, which would use up one that other devices have not seen (finding 2).
    ///
    /// - Parameters:
    ///   - types: The request types, at least one; the backend decides on their order.
    ///   - vector: The position to continue from. Sent in style `request` only; in style `server` the backend must hold
    ///     it already.
    ///   - isCompressed: True if compression may be asked for; the settings must allow it, too.
    ///   - credentials: The caller's.
    /// - Returns: The lines' bytes, decompressed, in chunks that may end anywhere.
    /// - Throws: ``BackendError/credentialRefused(status:)``, ``BackendError/typesRefused(_:)``,
    ///   ``BackendError/busy(status:retryAfter:)``, ``BackendError/contentType(_:)`` and any other error that keeps the
    ///   stream from beginning. Errors after that are thrown by the stream.
    package func openStream(
        types: [String], vector: CheckpointVector, isCompressed: Bool = true, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> BackendStream {
        guard !types.isEmpty else { throw .invalidCall("no request types") }
        return try await telling(of: .stream, settings.stream, as: credentials) { () throws(BackendError) in
            let response = try await streamResponse(
                of: types, from: vector, isCompressed: isCompressed, as: credentials)
            try await requireSuccess(response, credentials, types: types)
            if let type = response.fields[.contentType], !Self.mayBeLines(type) {
                throw .contentType(String(type.prefix(100)))
            }
            return try BackendStream(response, limit: settings.maximumStreamBytes)
        }
    }

    /// Requests the stream and returns the answer, whatever its status.
    func streamResponse(
        of types: [String], from vector: CheckpointVector, isCompressed: Bool, as credentials: ForwardedCredentials
    ) async throws(BackendError) -> CurlResponse {
        var values = CallValues(["types": .array(types.map { .string($0) })])
        if settings.checkpoints == .request {
            let checkpoints = vector.namespaces.map { ($0, vector[$0] ?? "") }
            values.named["checkpoints"] = .object(checkpoints.map { JSONValue.Member($0.0, .string($0.1)) })
            values.named["acks"] = .array(checkpoints.map { .string($0.1) })
        }
        return try await send(settings.stream, values, as: credentials) { request in
            request.timeouts = settings.streamTimeouts
            // A repetition does no harm: the backend only reads, or writes the same again.
            request.isIdempotent = true
            request.fields[.accept] = "application/jsonlines+json, application/x-ndjson;q=0.9, application/json;q=0.8"
            if settings.offersGzip, isCompressed { request.fields[.acceptEncoding] = "gzip" }
        }
    }

    /// Returns true if a body of this type can be lines of JSON.
    ///
    /// Backends use many types, or none; pages, pictures and forms are certainly not lines.
    package static func mayBeLines(_ contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        return type.isEmpty || type.contains("json") || ["text/plain", "application/octet-stream"].contains(type)
            || type == "binary/octet-stream"
    }
}
