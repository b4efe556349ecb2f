// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import JSONBytes
package import NIOCore
package import SyncModel

/// The answer to a probe: a request that only finds out what answers.
package struct ProbedAnswer: Sendable {
    /// The status, which may be any.
    package var status: Int
    /// The field `Content-Type`.
    package var contentType: String?
    /// The target of a redirection, without its query.
    package var location: String?
    /// The beginning of the body.
    package var body: [UInt8]
    /// True if `body` is the whole body.
    package var isWhole: Bool
    /// True if the body broke off.
    package var isBroken = false

    /// Creates an answer.
    package init(status: Int, contentType: String?, location: String? = nil, body: [UInt8], isWhole: Bool) {
        self.status = status
        self.contentType = contentType
        self.location = location
        self.body = body
        self.isWhole = isWhole
    }

    /// True if the body is a web page, by its type or by its beginning.
    package var isPage: Bool {
        if let contentType, contentType.lowercased().contains("html") { return true }
        return body.first { $0 > 0x20 } == UInt8(ascii: "<")
    }

    /// The sentence by which the backend refuses the request; nil for a page, and if there is none.
    package var message: String? { isPage ? nil : RefusalText.sentence(in: String(decoding: body, as: UTF8.self)) }

    /// Returns those of these names that occur in the body as words.
    package func names(of names: [String]) -> [String] {
        let text = String(decoding: body, as: UTF8.self)
        return names.filter { text.containsWord($0) }
    }
}

extension BackendClient {
    /// The number of bytes of an answer that are read.
    private static let probedBytes = 1 << 20

    /// Makes a call without values, to see what answers; the status is returned, not checked.
    ///
    /// - Throws: ``BackendError/transport(_:)`` if there is no answer.
    package func probe(_ call: Call, _ credentials: ForwardedCredentials) async throws(BackendError) -> ProbedAnswer {
        await probed(try await send(call, CallValues(), as: credentials))
    }

    /// Makes the call that sets checkpoints, without a token, so that it sets none.
    ///
    /// - Throws: ``BackendError/transport(_:)`` if there is no answer.
    package func probeAcknowledgement(_ credentials: ForwardedCredentials) async throws(BackendError) -> ProbedAnswer {
        guard let call = settings.acknowledge else { throw .notConfigured("ack") }
        return await probed(try await send(call, CallValues(["acks": .array([])]), as: credentials))
    }

    /// Opens the stream from a vector, in style `server` from the position that the backend keeps, and reads its first
    /// lines only.
    ///
    /// - Throws: ``BackendError/transport(_:)`` if there is no answer.
    package func probeStream(
        types: [String], from vector: CheckpointVector = CheckpointVector(), _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> ProbedAnswer {
        await probed(try await streamResponse(of: types, from: vector, isCompressed: false, as: credentials))
    }

    /// Sends operations under an idempotency key; the status is returned, not checked.
    ///
    /// - Throws: ``BackendError/transport(_:)`` if there is no answer.
    package func probePush(
        _ operations: ByteBuffer, key: String, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> ProbedAnswer {
        guard let call = settings.streamPush else { throw .notConfigured("push") }
        return await probed(
            try await send(call, CallValues(), as: credentials) { $0.push(.bytes(operations), key: key) })
    }

    private func probed(_ response: CurlResponse) async -> ProbedAnswer {
        let (body, end) = await bytes(of: response, upTo: Self.probedBytes, within: settings.errorBodyTimeout)
        var answer = ProbedAnswer(
            status: response.status.code, contentType: response.fields[.contentType],
            location: response.fields[.location].map { String($0.prefix { $0 != "?" && $0 != "#" }) }, body: body,
            isWhole: end == .whole)
        answer.isBroken = end == .broken
        return answer
    }
}
