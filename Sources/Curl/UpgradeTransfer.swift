// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import HTTPTypes
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One exchange that asks for another protocol; used on the reactor's thread only.
///
/// libcurl makes the connection with everything that belongs to it (`CURLOPT_CONNECT_ONLY`), and then only carries
/// bytes: the head of the request is written here, and the answer is read here (docs/decisions/0014).
final class UpgradeTransfer {
    /// The work that is left after a turn.
    enum Progress {
        /// None, before the socket is ready or either side wants something.
        case waits
        /// More of the same, after others had their turn.
        case more
        /// None any more: the exchange has ended.
        case ended(CurlError?)
    }

    private enum Phase {
        case connecting
        /// The request is being sent, or no byte of its answer has come.
        case waiting
        /// The answer's head has begun.
        case receiving
        /// The head is there, and its body follows.
        case answering
        case tunnel
    }

    /// The most bytes that are read or written at a time.
    static let pieceSize = 16 * 1024
    /// The most pieces of one direction until others have their turn.
    private static let piecesInTurn = 8

    let id: UInt64
    let easy: UnsafeMutableRawPointer
    private let exchange: Exchange
    private let request: PreparedRequest
    private let channel: UploadChannel

    private var phase = Phase.connecting
    private var socket = CURL_SOCKET_BAD
    private var reader: AnswerReader
    private var outgoing = OutgoingBytes()
    /// True if the server takes no more bytes at the moment.
    private var isSendBlocked = false
    /// True if all bytes of the tunnel were sent.
    private var hasSentAll = false
    private var wantsBytes = true
    private let started: NIODeadline
    private var lastMoved: NIODeadline

    /// Sets up an exchange; returns nil if libcurl has no memory for it.
    init?(
        _ request: PreparedRequest, exchange: Exchange, channel: UploadChannel, settings: CurlReactor.Settings,
        now: NIODeadline
    ) {
        guard let upgrade = request.upgrade, let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.exchange = exchange
        self.request = request
        self.channel = channel
        id = exchange.id
        (started, lastMoved) = (now, now)
        reader = AnswerReader(limit: settings.maximumHeadBytes, protocols: upgrade.protocols)
        let options = EasyOptions(easy: easy)
        guard options.setSafety(settings), options.setAddress(of: request), options.set(CURLOPT_CONNECT_ONLY, 1),
            // FORBID_REUSE would close it at once; nobody else gets such a connection anyway.
            options.set(CURLOPT_FRESH_CONNECT, 1),
            // Nothing is received through it.
            options.set(CURLOPT_BUFFERSIZE, Self.pieceSize)
        else { return nil }
        outgoing.set(upgrade.head)
    }

    deinit { curl_easy_cleanup(easy) }

    /// Takes the connection that libcurl has made; returns false if it is gone already.
    func connected() -> Bool {
        socket = rind_easy_socket(easy)
        phase = .waiting
        lastMoved = .now()
        return socket != CURL_SOCKET_BAD
    }

    /// The events for which the socket is watched; nil for none.
    var interest: curl_waitfd? {
        guard socket != CURL_SOCKET_BAD else { return nil }
        let events = (wantsBytes ? CURL_WAIT_POLLIN : 0) | (isSendBlocked ? CURL_WAIT_POLLOUT : 0)
        return events == 0 ? nil : curl_waitfd(fd: socket, events: Int16(events), revents: 0)
    }

    /// True if an error is one of the connection that is being made.
    var isConnected: Bool { if case .connecting = phase { false } else { true } }

    /// Continues to read, because the reader wants more bytes.
    func resume() {
        wantsBytes = true
        lastMoved = .now()
    }

    /// Moves bytes both ways, as far as both sides take them.
    ///
    /// - Parameter piece: A buffer that all exchanges share, of ``pieceSize``.
    /// - Returns: The work that is left.
    func pump(_ piece: UnsafeMutableRawBufferPointer) -> Progress {
        guard isConnected else { return .waits }
        do {
            // In this order: what comes may be the 101 for which the tunnel's bytes wait.
            let progress = try receive(piece)
            if case .ended = progress { return progress }
            return try send() ? .more : progress
        } catch {
            return .ended(error)
        }
    }

    /// Sends what there is; returns true if there may be more.
    private func send() throws(CurlError) -> Bool {
        isSendBlocked = false
        for _ in 0..<Self.piecesInTurn {
            if outgoing.isEmpty, !fill() { return false }
            var count = 0
            let code = curl_easy_send(easy, outgoing.start, outgoing.count, &count)
            guard code != CURLE_AGAIN else {
                isSendBlocked = true
                return false
            }
            guard code == CURLE_OK else { throw error(code) }
            outgoing.drop(count)
            lastMoved = .now()
        }
        return true
    }

    /// Takes the next bytes of the client; returns false if there are none.
    private func fill() -> Bool {
        guard case .tunnel = phase, !hasSentAll else { return false }
        let reading = outgoing.fill(upTo: Self.pieceSize) { channel.read(into: $0) }
        switch reading {
        case .bytes: return true
        case .pause: return false
        case .end:
            hasSentAll = true
            // With TLS there is no such thing: a server would take it for an attack.
            if request.url.lowercased().hasPrefix("http://") { shutdown(socket, Int32(SHUT_WR)) }
            return false
        }
    }

    private func receive(_ piece: UnsafeMutableRawBufferPointer) throws(CurlError) -> Progress {
        for _ in 0..<Self.piecesInTurn {
            guard wantsBytes else { return .waits }
            var count = 0
            let code = curl_easy_recv(easy, piece.baseAddress, piece.count, &count)
            guard code != CURLE_AGAIN else { return .waits }
            guard code == CURLE_OK else { throw error(code) }
            lastMoved = .now()
            guard count > 0 else {
                try reader.end()
                return .ended(nil)
            }
            if case .waiting = phase { phase = .receiving }
            let bytes = ByteBuffer(bytes: UnsafeRawBufferPointer(rebasing: piece[..<count]))
            if try deliver(reader.read(bytes)) { return .ended(nil) }
        }
        return .more
    }

    /// Passes on what has come; returns true if the answer is complete.
    private func deliver(_ brought: AnswerReader.Brought) throws(CurlError) -> Bool {
        if let head = brought.head {
            phase = head.status == .switchingProtocols ? .tunnel : .answering
            // Nothing of the body is sent with any other answer.
            if head.status != .switchingProtocols { channel.close() }
        }
        if brought.body.readableBytes > 0 {
            switch exchange.yield(brought.body) {
            case .produceMore: break
            case .stopProducing: wantsBytes = false
            case .dropped: throw .cancelled
            }
        }
        let isComplete = reader.isComplete
        if isComplete { exchange.finish(nil) }
        if let head = brought.head { exchange.resolve(.success(head)) }
        return isComplete
    }

    private func error(_ code: CURLcode) -> CurlError {
        CurlError(code, String(cString: curl_easy_strerror(code)), isConnected: true)
    }

    /// Ends the exchange for its reader and its writer.
    func finish(_ error: CurlError?) {
        channel.close()
        exchange.finish(error)
    }

    /// The next deadline, unless bytes move before it; a tunnel has none.
    var nextDeadline: (at: NIODeadline, which: CurlError.Deadline)? {
        let timeouts = request.timeouts
        var step: (start: NIODeadline, duration: Duration?, which: CurlError.Deadline)
        switch phase {
        case .connecting: step = (started, timeouts.connect, .connect)
        case .waiting: step = (lastMoved, timeouts.firstByte, .firstByte)
        case .receiving: step = (lastMoved, timeouts.idle, .idle)
        case .answering: step = (lastMoved, wantsBytes ? timeouts.idle : nil, .idle)
        case .tunnel: return nil
        }
        let end = step.duration.map { step.start.adding($0) } ?? .distantFuture
        let total = timeouts.total.map { started.adding($0) } ?? .distantFuture
        if total < end { step.which = .total }
        return min(end, total) == .distantFuture ? nil : (min(end, total), step.which)
    }
}
