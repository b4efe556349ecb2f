// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Logging
import Telemetry

/// Serves the operator's listener.
struct AdminResponder: RequestResponder {
    let health: HealthResponder
    let figures: MetricsResponder
    let status: StatusResponder
    let metrics: GatewayMetrics
    let logger: Logger

    func respond(to request: IncomingRequest, with stream: AnswerStream) async throws {
        var record = RequestRecord(request, logger: logger, metrics: metrics)
        record.isProbe = true
        stream.commonFields[.requestID] = request.id
        do {
            if request.path == MetricsResponder.path {
                try await figures.respond(to: request, with: stream)
                return record.write(stream)
            }
            if let page = StatusResponder.Page(rawValue: String(request.path)) {
                try await status.respond(page, to: request, with: stream)
                return record.write(stream)
            }
            guard let probe = HealthResponder.Probe(path: request.path) else {
                throw GatewayFault.unknownAdminPath
            }
            try await health.respond(probe, to: request, with: stream)
        } catch {
            let failure = RequestFailure(behind: error)
            record.failure = failure.error
            record.cause = failure.error.cause
            guard !stream.hasBegun else { throw error }
            let answer = FailureAnswer(
                failure.error, requestID: request.id, accept: request.fields[.accept], extra: failure.fields)
            try await stream.send(failure.error.status, answer.fields, body: answer.body)
        }
        record.write(stream)
    }
}
