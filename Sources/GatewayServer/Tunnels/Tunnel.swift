// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Telemetry

/// A client's connection that is joined with one to the backend: from the backend's 101 on, bytes go both ways without
/// being looked at.
///
/// A slow side slows the other one down. The end of either side ends both, after the bytes that are on their way.
final class Tunnel: Sendable {
    /// The reason why a tunnel has ended.
    enum End: String, Sendable {
        /// The client has closed its side, or has gone.
        case client
        /// The backend has closed its side.
        case backend
        /// No byte has moved for `[limits] tunnel_idle`.
        case idle
        /// The client took nothing for `[limits] send_timeout`.
        case slow
        /// The connection to the backend broke.
        case lost
        /// The gateway stops.
        case drain
    }

    private struct State {
        var isOpen = false
        var lastMoved = ContinuousClock.now
        var end: End?
        var hasClientEnded = false
        var (fromClient, fromBackend) = (0, 0)
    }

    /// The time for which a client that has closed its side may still get bytes, and for which a client may take what
    /// is left when the tunnel ends.
    private static let linger = Duration.seconds(2)

    private let idle: Duration
    private let metrics: GatewayMetrics
    private let requests: OpenRequests
    private let number: UInt64
    private let state = NIOLockedValueBox(State())
    private let opening = Signal()
    private let clientEnd = Signal()
    private let stop = Signal()

    /// Creates the tunnel of a request that asks for one.
    ///
    /// - Parameters:
    ///   - number: The request's number among the open ones; a drain waits for the request, but not for the tunnel.
    ///   - requests: The open requests.
    ///   - idle: The longest time in which no byte moves.
    ///   - metrics: Counts the tunnel if it opens.
    init(of number: UInt64, in requests: OpenRequests, idle: Duration, metrics: GatewayMetrics) {
        self.number = number
        self.requests = requests
        self.idle = idle
        self.metrics = metrics
    }

    /// True as soon as the backend has switched protocols.
    var isOpen: Bool { state.withLockedValue(\.isOpen) }

    /// The figures of the tunnel for the log; empty if it never opened.
    var metadata: Logger.Metadata {
        let state = state.withLockedValue(\.self)
        guard state.isOpen else { return [:] }
        return ["end": "\(state.end ?? .lost)", "bytes_in": "\(state.fromClient)"]
    }

    /// Sends the client's bytes to the backend until the client closes its side.
    ///
    /// Nothing is read before the tunnel is open: what a client sends earlier is no request, and waits.
    func sendUp(from parts: RequestParts, to writer: CurlUploadWriter) async throws {
        guard await opening.wait() else { throw CancellationError() }
        while let piece = try await parts.nextTunnelBytes() {
            moved(fromClient: piece.readableBytes)
            try await writer.write(piece)
            moved()
        }
        state.withLockedValue { state in
            state.hasClientEnded = true
            state.lastMoved = .now
        }
        clientEnd.give()
    }

    /// Carries bytes both ways until either side ends.
    ///
    /// - Throws: The error of a side that broke; the client's connection must then be cut.
    func run(_ response: CurlResponse, of request: IncomingRequest, on stream: AnswerStream, head: HTTPFields)
        async throws
    {
        // The end of the client's side is no reason to cut: what is on its way to the backend must arrive.
        try request.connection.hangUp.shield()
        try await stream.switchProtocols(head)
        state.withLockedValue { state in
            state.isOpen = true
            state.lastMoved = .now
        }
        requests.become(tunnel: number) { [stop] in stop.give() }
        defer { metrics.count(.tunnels, labels: .init(first: (state.withLockedValue(\.end) ?? .lost).rawValue)) }
        opening.give()
        let cut = stream.abandoner
        let isEndedHere = try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                await self.waitForReason()
                response.body.cancel()
                // A client that takes nothing must not hold up the end.
                if (try? await Task.sleep(for: Self.linger)) != nil { cut() }
            }
            guard try await sendDown(response.body, on: stream) else { return false }
            try await stream.finish()
            return true
        }
        // The backend has ended the tunnel: the client may take the rest as slowly as any answer.
        if !isEndedHere { try await stream.finish() }
    }

    /// Sends the backend's bytes to the client, until the backend closes its side or the tunnel is ended here.
    ///
    /// - Returns: True for the latter.
    private func sendDown(_ body: CurlBody, on stream: AnswerStream) async throws -> Bool {
        do {
            for try await piece in body {
                moved(fromBackend: piece.readableBytes)
                try await stream.write(piece)
                moved()
            }
            return !end(.backend)
        } catch {
            if end(Self.reason(of: error)) { throw error }
            return true
        }
    }

    private static func reason(of error: any Error) -> End {
        switch error {
        case CurlError.upload(let cause): reason(of: cause)
        case is ClientTooSlow: .slow
        case is ClientGone: .client
        case is CancellationError, CurlError.cancelled, CurlError.shutDown: .drain
        default: .lost
        }
    }

    /// Waits until there is a reason to end the tunnel that is no end of the backend's side.
    private func waitForReason() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.endIfStill(for: self.idle, .idle) }
            group.addTask { if await self.stop.wait() { self.end(.drain) } }
            group.addTask { if await self.clientEnd.wait() { await self.endIfStill(for: Self.linger, .client) } }
            await group.next()
            group.cancelAll()
        }
    }

    /// Ends the tunnel when no byte has moved for some time.
    private func endIfStill(for time: Duration, _ reason: End) async {
        while !Task.isCancelled {
            let deadline = state.withLockedValue(\.lastMoved) + time
            guard deadline > .now else {
                end(reason)
                return
            }
            try? await Task.sleep(until: deadline)
        }
    }

    /// Records the reason of the end; returns false if there is one already.
    @discardableResult
    private func end(_ reason: End) -> Bool {
        state.withLockedValue { state in
            guard state.end == nil else { return false }
            // A backend that ends its side then only answers.
            let isAnswer = state.hasClientEnded && (reason == .backend || reason == .idle)
            state.end = isAnswer ? .client : reason
            return true
        }
    }

    private func moved(fromClient: Int = 0, fromBackend: Int = 0) {
        state.withLockedValue { state in
            state.lastMoved = .now
            state.fromClient += fromClient
            state.fromBackend += fromBackend
        }
        metrics.add(.tunnelBytes, fromClient, labels: .init(first: "in"))
        metrics.add(.tunnelBytes, fromBackend, labels: .init(first: "out"))
    }
}

/// A signal for one task, which may be given before the task waits.
private struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1)) }

    func give() { continuation.yield() }

    /// Waits for the signal; returns false if the task was cancelled first.
    func wait() async -> Bool {
        for await _ in stream { return true }
        return false
    }
}
