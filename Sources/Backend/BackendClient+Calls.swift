// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import JSONBytes
package import SyncModel

// Single writes, by the templates of the configuration.
extension BackendClient {
    /// Makes one write call.
    ///
    /// Statuses mean what the template says; without that 2xx is ok, 404 and 410 are missing, 409 and 412 are conflict,
    /// and every other 4xx that a repetition will not change is rejected.
    ///
    /// - Parameters:
    ///   - call: The template.
    ///   - values: What its placeholders stand for.
    ///   - hasBody: Whether all writable columns are sent where the template has no body.
    ///   - credentials: Whose call it is.
    /// - Returns: What it came to.
    /// - Throws: ``BackendError`` where that is not known, or it was not tried.
    package func call(
        _ call: Call, _ values: CallValues, hasBody: Bool, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> CallOutcome {
        let body = call.body == nil && hasBody ? values.fill(.allColumns).serialised : nil
        let request = try request(call, values, credentials, body: body)
        let response = try await send(request)
        let status = response.status.code
        if let told = call.statuses[status] {
            return try await outcome(Self.meaning(told), of: call, response)
        }
        switch status {
        case 200..<300: return try await outcome(.ok, of: call, response)
        case 401: throw .unauthorized
        case 403: throw .forbidden
        case 404, 410: return try await outcome(.missing, of: call, response)
        case 409, 412: return try await outcome(.conflict, of: call, response)
        case 408, 425, 429, 503: throw .busy(status: status, retryAfter: Self.retryAfter(response.fields))
        case 400..<500: return try await outcome(.rejected, of: call, response)
        default: throw .failed(status: status, body: await errorBody(response))
        }
    }

    private func outcome(
        _ meaning: CallOutcome.Meaning, of call: Call, _ response: CurlResponse
    ) async throws(BackendError) -> CallOutcome {
        let status = response.status.code
        guard (200..<300).contains(status), meaning == .ok else {
            return CallOutcome(meaning: meaning, status: status, message: await errorBody(response))
        }
        guard call.returns != nil || !call.when.isEmpty else {
            // The body is of no interest, but reading it lets the connection be used again.
            _ = try? await response.body.collect(upTo: settings.answerBytes)
            return CallOutcome(meaning: .ok, status: status)
        }
        let answer = try await document(response)
        let holds = call.when.isEmpty || call.when.contains { answer[$0.path].map($0.value.matches) ?? false }
        guard holds else {
            let message = String(decoding: answer.serialised.prefix(Self.keptErrorBytes), as: UTF8.self)
            return CallOutcome(meaning: .rejected, status: status, message: message)
        }
        let id = call.returns.flatMap { answer[$0] }
        return CallOutcome(meaning: .ok, status: status, id: id?.string ?? id?.number?.spelling)
    }

    private static func meaning(_ meaning: Call.Meaning) -> CallOutcome.Meaning {
        switch meaning {
        case .ok: .ok
        case .missing: .missing
        case .exists: .exists
        case .conflict: .conflict
        case .rejected: .rejected
        }
    }
}

extension Column.Literal {
    /// Whether a JSON value is this literal.
    fileprivate func matches(_ value: JSONValue) -> Bool {
        switch self {
        case .string(let text): value.string == text
        case .number(let number): value.double == number
        case .boolean(let bool): value.bool == bool
        }
    }
}
