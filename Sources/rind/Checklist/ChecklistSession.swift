// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Gateway
import GatewayConfig
import NIOCore
import SyncMachines
import SyncModel

/// One session of a test account at the backend, with its position in the stream.
///
/// It moves the session's checkpoints as a device would, so no device may use the session.
struct ChecklistSession {
    private let configuration: Configuration
    private let client: BackendClient
    private let credentials: ForwardedCredentials
    /// The position, in style `request` only; in style `server` the backend keeps it.
    private var vector = CheckpointVector()

    /// The time within which a pushed record has to come.
    static let patience = Duration.seconds(10)

    private let isSecond: Bool

    /// Creates a session with a credential; no call is made.
    init(
        _ configuration: Configuration, client: BackendClient, _ credentials: ForwardedCredentials,
        isSecond: Bool = false
    ) {
        self.configuration = configuration
        self.isSecond = isSecond
        self.client = client
        self.credentials = credentials
    }

    private var isServerStyle: Bool { client.settings.checkpoints == .server }
    private var types: [String] { configuration.schema.requestTypes(at: configuration.schema.version) }

    /// Reads the stream, or its first lines, from where the session is.
    func stream(upTo count: Int = .max) async throws(ChecklistFailure) -> ChecklistStream {
        try await calling(.stream) { () throws(BackendError) in
            try await ChecklistStream(
                try await client.openStream(types: types, vector: vector, credentials), configuration, upTo: count)
        }
    }

    /// Asks for a further request type, and returns the status.
    func status(toType type: String) async throws(ChecklistFailure) -> Int {
        try await calling(.stream) { () throws(BackendError) in
            try await client.probeStream(types: types + [type], credentials).status
        }
    }

    /// Confirms lines, or sets their namespaces back to them.
    mutating func confirm(_ lines: [ChecklistStream.Line]) async throws(ChecklistFailure) {
        var newest = CheckpointVector()
        for line in lines { newest.advance(to: line.checkpoint) }
        try await confirm(newest)
    }

    /// Presents these tokens, wherever they come from.
    mutating func confirm(_ tokens: CheckpointVector) async throws(ChecklistFailure) {
        for namespace in tokens.namespaces { vector[namespace] = tokens[namespace] }
        guard isServerStyle else { return }
        for batch in client.ackBatches(of: tokens.namespaces.compactMap { tokens[$0] }) {
            try await calling(.acknowledgement) { () throws(BackendError) in
                try await client.acknowledge(batch, credentials)
            }
        }
    }

    /// Forgets one namespace.
    mutating func forget(_ namespace: String) async throws(ChecklistFailure) {
        vector[namespace] = nil
        guard isServerStyle else { return }
        try await calling(.forget) { () throws(BackendError) in
            try await client.forget(namespaces: [namespace], credentials)
        }
    }

    /// Forgets everything, so that the next stream begins at nothing.
    mutating func forgetAll() async throws(ChecklistFailure) {
        vector = CheckpointVector()
        guard isServerStyle else { return }
        try await calling(.forget) { () throws(BackendError) in try await client.forgetAll(credentials) }
    }

    /// Reads what is new, and confirms it.
    mutating func news() async throws(ChecklistFailure) -> ChecklistStream {
        let news = try await stream()
        try await confirm(news.lines)
        return news
    }

    /// Reads what is new until a stream has what is waited for; it may be behind a push.
    ///
    /// - Returns: The last stream, and the time for which the ones before did not have it; nil if the first one had.
    mutating func awaitNews(
        _ isThere: (ChecklistStream) -> Bool = { !$0.records.isEmpty }
    ) async throws(ChecklistFailure) -> (stream: ChecklistStream, lag: Duration?) {
        let start = ContinuousClock.now
        var news = try await news()
        guard news.fault == nil, !isThere(news) else { return (news, nil) }
        while news.fault == nil, !isThere(news), start.duration(to: .now) < Self.patience {
            guard (try? await Task.sleep(for: .milliseconds(250))) != nil else { break }
            news = try await self.news()
        }
        return (news, start.duration(to: .now))
    }

    /// Pushes operations in one request.
    func push(
        _ operations: [StreamPushOperation], key: String = key()
    ) async throws(ChecklistFailure) -> StreamPushResult {
        try await calling(.push) { () throws(BackendError) in
            try await client.pushStream(
                .bytes(Self.lines(operations)), count: operations.count, key: key, credentials)
        }
    }

    /// Pushes operations, and returns the status.
    func status(toPush operations: [StreamPushOperation], key: String) async throws(ChecklistFailure) -> Int {
        try await calling(.push) { () throws(BackendError) in
            try await client.probePush(Self.lines(operations), key: key, credentials).status
        }
    }

    /// Returns a new idempotency key.
    static func key() -> String { "rind-checklist-\(String(Randomness.system.next(), radix: 36))" }

    private static func lines(_ operations: [StreamPushOperation]) -> ByteBuffer {
        var lines = ByteBuffer()
        for operation in operations { operation.append(to: &lines) }
        return lines
    }

    private func calling<R>(
        _ call: ChecklistCall, _ body: () async throws(BackendError) -> R
    ) async throws(ChecklistFailure) -> R {
        do throws(BackendError) { return try await body() } catch {
            throw ChecklistFailure(call: call, cause: error, isSecond: isSecond)
        }
    }
}

/// The account of a second credential.
enum SecondAccount {
    /// Another session of the same user.
    case session(ChecklistSession)
    /// A session of another user.
    case user(ChecklistSession)
}

/// A call of the checklist that has failed.
struct ChecklistFailure: Error {
    let call: ChecklistCall
    let cause: BackendError
    /// True if the second account made the call.
    let isSecond: Bool

    /// True if the backend may have refused the tokens of the call.
    var isAboutTokens: Bool {
        guard case .refused(let status) = cause else { return false }
        return RefusalReading.byNames.isAboutTokens(status: status)
    }
}

extension StreamPushResult {
    /// True if the push was applied.
    var isApplied: Bool { if case .applied = self { true } else { false } }

    /// The outcomes of the lines that have one.
    var outcomes: [StreamPushLine.Outcome] {
        switch self {
        case .applied(let lines), .refused(let lines): lines.map(\.outcome)
        }
    }

    /// The answer in words.
    var words: String {
        switch self {
        case .applied: "it was applied"
        case .refused(let lines):
            lines.map {
                "line \($0.line) \($0.outcome.rawValue)" + ($0.message.map { ", '\($0.shown(upTo: 100))'" } ?? "")
            }
            .joined(separator: "; ")
        }
    }
}
