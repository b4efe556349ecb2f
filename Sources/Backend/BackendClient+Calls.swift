// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
package import JSONBytes
package import SyncModel

/// The outcome of a call of a push by calls.
package struct CallOutcome: Hashable, Sendable {
    /// The meaning of the answer by the configuration.
    package let meaning: Call.Meaning
    /// The answer's status.
    package let status: Int
    /// The value at the call's `returns` path, as text; never nil if the call has such a path and the meaning is ok.
    package let returned: String?
    /// True if the status was a success, but the body met none of the call's conditions.
    package let failsConditions: Bool

    /// Creates an outcome.
    package init(meaning: Call.Meaning, status: Int, returned: String? = nil, failsConditions: Bool = false) {
        self.meaning = meaning
        self.status = status
        self.returned = returned
        self.failsConditions = failsConditions
    }
}

/// The answer to a call of a push by calls.
package struct CallAnswer: Sendable {
    /// The outcome of the call, or the error.
    package let result: Result<CallOutcome, BackendError>
    /// The sentence by which the backend refuses, cut and without the caller's credential; for operators only.
    package let sentence: String?
}

extension BackendError {
    /// True if an answer came, too long or otherwise unreadable.
    fileprivate var isAboutContent: Bool {
        switch self {
        case .malformedAnswer, .answerTooLarge, .encoding, .contentType: true
        default: false
        }
    }
}

extension BackendClient {
    /// Makes a call of a push by calls, and decides what its answer means.
    ///
    /// The configured statuses come first; then 2xx is ok, and 409 and 412 are conflict; every other status is thrown.
    /// For a create, the caller interprets a 409 without a configured meaning by push rule 2. A 2xx that meets none of
    /// the call's conditions is rejected: the backend has refused in its body.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - values: The values to fill in; each value in the target stays within its segment.
    ///   - credentials: The caller's.
    /// - Returns: The outcome.
    /// - Throws: ``BackendError``; if its ``BackendError/isOutcomeUnknown`` is true, the change may have happened
    ///   anyway.
    package func call(
        _ call: Call, _ values: CallValues, as credentials: ForwardedCredentials
    ) async throws(BackendError) -> CallOutcome {
        try await self.call(call, CallRequest(call, values, in: credentials.scope), as: credentials)
    }

    /// Makes a call of a push by calls from a complete request.
    ///
    /// - Parameters:
    ///   - call: Defines the meaning of statuses and answers.
    ///   - callRequest: The request.
    ///   - credentials: The caller's.
    ///   - key: The header field by which the backend recognises a repetition.
    /// - Returns: The outcome.
    /// - Throws: As ``call(_:_:_:)``.
    package func call(
        _ call: Call, _ callRequest: CallRequest, as credentials: ForwardedCredentials,
        key: (name: String, value: String)? = nil
    ) async throws(BackendError) -> CallOutcome {
        try await answer(call, callRequest, as: credentials, key: key).result.get()
    }

    /// Makes a call like ``call(_:_:_:key:)``, and keeps the backend's sentence if it refuses.
    package func answer(
        _ call: Call, _ callRequest: CallRequest, as credentials: ForwardedCredentials,
        key: (name: String, value: String)? = nil
    ) async -> CallAnswer {
        var sentence: String?
        let result: Result<CallOutcome, BackendError>
        do throws(BackendError) {
            let response = try await send(callRequest, as: credentials) { request in
                if let key, let name = HTTPField.Name(key.name) { request.fields[name] = key.value }
                if let tag = callRequest.ifMatch { request.fields[.ifMatch] = tag }
            }
            result = .success(try await outcome(of: response, to: call, as: credentials, sentence: &sentence))
        } catch {
            result = .failure(error)
        }
        return CallAnswer(result: result, sentence: sentence.map(credentials.masked))
    }

    private func outcome(
        of response: CurlResponse, to call: Call, as credentials: ForwardedCredentials, sentence: inout String?
    ) async throws(BackendError) -> CallOutcome {
        let status = response.status.code
        let isSuccess = response.status.kind == .successful
        var meaning = call.statuses[status]
        if meaning == nil {
            if isSuccess { meaning = .ok }
            if status == 409 || status == 412 { meaning = .conflict }
        }
        guard let meaning else {
            if !isSuccess {
                let refusal = await refusal(of: response, credentials)
                sentence = RefusalText.sentence(in: refusal.body)
                throw refusal.error
            }
            throw .unexpectedStatus(status)
        }
        let wantsConditions = isSuccess && !call.when.isEmpty
        let wantsID = call.returns != nil && (meaning == .ok || meaning == .exists)
        let located = wantsID ? call.id(inLocation: response.fields[.location]) : nil
        guard wantsConditions || wantsID && located == nil else {
            if meaning == .rejected || meaning == .conflict {
                sentence = RefusalText.sentence(in: await refusal(of: response, credentials).body)
            } else {
                await drain(response)
            }
            return CallOutcome(meaning: meaning, status: status, returned: located)
        }
        let answer: JSONValue
        do throws(BackendError) {
            answer = try await json(response, limit: settings.maximumAnswerBytes)
        } catch {
            // Such answers are often plain sentences; they still mean that the record exists.
            if meaning == .exists, !wantsConditions, error.isAboutContent {
                return CallOutcome(meaning: meaning, status: status)
            }
            throw error
        }
        if wantsConditions, !call.when.contains(where: { answer.value(at: $0.path)?.equals($0.value) ?? false }) {
            sentence = RefusalText.sentence(in: answer)
            return CallOutcome(meaning: .rejected, status: status, failsConditions: true)
        }
        let returned = located ?? call.returns.flatMap { answer.value(at: $0)?.idText }
        if wantsID, meaning == .ok, returned == nil {
            throw .malformedAnswer("there is no id at \(call.returns?.description ?? "")")
        }
        return CallOutcome(meaning: meaning, status: status, returned: returned)
    }

    /// Returns the value at a path of the answer to a call, such as the caller's identity at the backend.
    ///
    /// - Parameters:
    ///   - call: Normally a `GET`.
    ///   - path: The path of the value.
    ///   - credentials: The caller's.
    /// - Returns: The value; nil if there is none at the path.
    /// - Throws: ``BackendError/credentialRefused(status:)`` if the backend does not know the caller.
    package func value(
        of call: Call, at path: Path, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> JSONValue? {
        try await telling(of: .principal, call, as: credentials) { () throws(BackendError) in
            let response = try await send(call, CallValues(), as: credentials)
            try await requireSuccess(response, credentials)
            return try await json(response, limit: settings.maximumAnswerBytes).value(at: path)
        }
    }
}

extension Call {
    /// Returns the id at the end of the field `Location` (RFC 9110, 10.2.2) if the call is to return that; nil if there
    /// is none.
    fileprivate func id(inLocation value: String?) -> String? {
        guard returns == Path(name: "location"), let value else { return nil }
        var path = value.prefix { $0 != "?" && $0 != "#" }
        // A host is no id.
        if let scheme = path.firstRange(of: "://") { path = path[scheme.upperBound...].drop { $0 != "/" } }
        guard let last = path.split(separator: "/").last else { return nil }
        return String(validating: PercentCoding.decode(last.utf8), as: UTF8.self)
    }
}
