// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Logging
import SyncModel
import Telemetry

/// Collects the log's data on one request; never its query, its body or its credential.
///
/// At info, a path that passes through is logged by its first word only: links to share, to reset a password or to sign
/// in have a secret in their path.
struct RequestRecord {
    /// The logger with the request id, for all code that serves the request.
    let logger: Logger
    /// True for a request on a sync path.
    var isSync = false
    /// True for a health probe.
    var isProbe = false
    /// The figures of a sync.
    var figures: SyncFigures?
    /// The tunnel that it may become; nil if it asks for none.
    var tunnel: Tunnel?
    /// The reason of its failure.
    var failure: GatewayError?
    /// The cause of the failure.
    var cause: String?

    /// The trace that the client has begun, if it has.
    let traceParent: TraceParent?
    /// The times and calls of a sync; nil for other requests.
    var trace: SyncTrace?

    private let metrics: GatewayMetrics
    private let client: String?
    private let method: String
    private let path: String
    private let start = ContinuousClock.now

    init(_ request: IncomingRequest, logger: Logger, metrics: GatewayMetrics) {
        self.metrics = metrics
        var logger = logger
        logger[metadataKey: "request_id"] = "\(request.id)"
        traceParent = request.traceParent
        if let traceParent { logger[metadataKey: "trace_id"] = .string(traceParent.traceID) }
        self.logger = logger
        client = request.client
        method = request.method.rawValue
        path = Self.shown(request.path)
    }

    /// Writes the line.
    func write(_ stream: AnswerStream) {
        // An answer that was begun and did not arrive is not a success, even if its head had one.
        let status = stream.isComplete ? stream.status ?? 0 : failure?.status ?? stream.status ?? 0
        let duration = ContinuousClock.now - start
        let elapsed = duration.milliseconds
        let trace = trace?.content
        let shown = shownPath(whole: isSync || isProbe)
        var metadata: Logger.Metadata = [
            "method": .string(method), "path": .string(shown), "status": .string(String(status)),
            "duration_ms": .string(String(elapsed)), "bytes_out": .string(String(stream.bodyBytes)),
        ]
        if let code = failure?.code ?? ownCode(status) { metadata["code"] = "\(code)" }
        if !stream.isComplete { metadata["cut"] = "true" }
        if let tunnel { metadata.merge(tunnel.metadata) { own, _ in own } }
        if let figures = figures ?? failure?.figures { metadata.merge(figures.metadata) { own, _ in own } }
        if let client { metadata["client"] = .string(client) }
        if let trace { add(trace, to: &metadata) }
        // What is damaged in the state names nothing of the client's.
        if let cause, failure?.code == "state.corrupt" {
            metadata["cause"] = .string(ForeignText.cut(cause, to: Self.causeBytes))
        }
        let kind = isProbe ? "probe" : isSync ? "sync" : "proxy"
        let outcome = SyncOutcome(
            figures: figures ?? failure?.figures, code: failure?.code ?? "", status: status,
            isComplete: stream.isComplete)
        metrics.observe(outcome, kind: kind, trace: trace, duration: duration)
        if let trace { metrics.remember(recent(outcome, trace, elapsed: elapsed), isSuccess: outcome.result == "ok") }
        logger.log(level: level(failure?.status ?? status), isSync ? "sync" : "request", metadata: metadata)
        if let cause { logger.debug("cause", metadata: ["cause": "\(ForeignText.cut(cause, to: Self.causeBytes))"]) }
        if !isSync, !isProbe { logger.debug("path", metadata: ["path": "\(path)"]) }
    }

    /// Returns a sync as the operator's page shows it.
    private func recent(_ outcome: SyncOutcome, _ trace: SyncTrace.Content, elapsed: Int64) -> RecentSyncs.Sync {
        let (figures, kind) = (outcome.figures, trace.kind.rawValue)
        let mode = figures.map { $0.mode == kind ? "" : " \($0.mode)" } ?? ""
        return RecentSyncs.Sync(
            endedAt: SystemClock().now.milliseconds, milliseconds: elapsed, kind: kind + mode,
            replica: figures?.replica ?? trace.subject.replica,
            principal: figures?.principal ?? trace.subject.principal ?? "", scope: trace.subject.scope,
            code: outcome.code)
    }

    /// Adds whom it is about if it has failed, and what is unusual: stages that took long, several calls to the backend,
    /// or one that failed.
    private func add(_ trace: SyncTrace.Content, to metadata: inout Logger.Metadata) {
        let subject = trace.subject
        if metadata["principal"] == nil, let principal = subject.principal {
            metadata["principal"] = .string(principal)
        }
        if let scope = subject.scope { metadata["scope"] = .string(ForeignText.cut(scope)) }
        if metadata["replica"] == nil, let replica = subject.replica { metadata["replica"] = .string(replica) }
        if metadata["presented"] == nil, let presented = subject.presented {
            metadata["presented"] = .string(String(presented))
        }
        let least = logger.logLevel <= .debug ? Self.shownStage : Self.longStage
        for index in 0..<SyncStage.all.count where trace.nanoseconds[index] >= least {
            metadata["\(SyncStage.all[index].rawValue)_ms"] = "\(trace.nanoseconds[index] / 1_000_000)"
        }
        if trace.callCount > 1 { metadata["backend_calls"] = "\(trace.callCount)" }
        if let status = trace.backendStatus, status != 200 { metadata["backend_status"] = "\(status)" }
    }

    /// Returns the code of an answer that the gateway has only passed on; nil if the backend has not failed.
    private func ownCode(_ status: Int) -> String? {
        isSync || isProbe || status < 500 ? nil : "proxy.backend_failed"
    }

    /// Returns the path for the log at info: whole, or its first word.
    func shownPath(whole: Bool) -> String { whole ? path : Self.beginning(of: path) }

    private func level(_ status: Int) -> Logger.Level {
        if status >= 500 { return .warning }
        return isProbe ? .debug : .info
    }

    /// The nanoseconds of a stage that is worth a field in the log, at info and at debug.
    private static let (longStage, shownStage): (Int64, Int64) = (50_000_000, 1_000_000)
    /// The most bytes of a failure's cause.
    private static let causeBytes = 1_000

    /// Returns the path's first segment if it is a word, and a mark if more follows.
    private static func beginning(of path: String) -> String {
        let segments = path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: true)
        guard let first = segments.first else { return path }
        let isWord =
            first.utf8.count <= 24
            && first.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "-")
            }
        return "/" + (isWord ? first : "…") + (segments.count > 1 ? "/…" : "")
    }

    /// Returns the path without characters that would break a line, and cut if it is long.
    private static func shown(_ path: Substring) -> String {
        String(
            decoding: path.utf8.prefix(256).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
