// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import HTTPTypes
import NIOCore

/// One exchange as libcurl sees it; it is created and destroyed on the reactor's thread.
final class Transfer {
    /// The progress of the exchange.
    enum Phase {
        /// There is no connection yet.
        case connecting
        /// The connection is ready, and no byte of an answer has come.
        case waiting
        case receiving
    }

    /// The reader's demand for bytes.
    enum Demand {
        case open
        /// Enough has been passed on; no more has come since.
        case closed
        /// More has come, and libcurl was told to keep it.
        case paused
    }

    let id: UInt64
    let easy: UnsafeMutableRawPointer
    let exchange: Exchange
    let request: PreparedRequest
    let settings: CurlReactor.Settings

    private(set) var phase = Phase.connecting
    private(set) var demand = Demand.open
    private(set) var isUploading: Bool
    private(set) var isUploadPaused = false
    /// The reason why a callback has stopped libcurl, which itself only reports that one did.
    private(set) var failure: CurlError?

    let started: NIODeadline
    private(set) var lastReceived: NIODeadline
    private(set) var lastSent: NIODeadline

    private var parser: ResponseHeadParser
    private var hasHead = false
    /// The head, held back until the bytes that came with it were passed on, so that the reader's task wakes up once.
    private var undelivered: Exchange.Head?
    private var isRepeated = false
    private let handles: EasyHandles
    private let sockets: ConnectionSockets
    private var opened: [Int32] = []
    /// The connection while a body is sent that may be refused before its end; nil with TLS, which only libcurl reads.
    private var uploadSocket: KeptSocket?
    /// True if the kept connection that libcurl has chosen must not be used.
    private var isStale = false
    /// True if the request was sent, be it on a connection that was dead.
    private var isSent = false
    private var received = BodyChunk()
    private var sentBytes = 0
    let errorText: UnsafeMutablePointer<CChar>
    private var list: UnsafeMutablePointer<curl_slist>?

    /// Sets up a transfer; returns nil if libcurl has no memory for it.
    init?(
        _ request: PreparedRequest, exchange: Exchange, settings: CurlReactor.Settings, handles: EasyHandles,
        sockets: ConnectionSockets, now: NIODeadline
    ) {
        guard let easy = handles.take() else { return nil }
        (self.easy, self.handles) = (easy, handles)
        (self.request, self.exchange) = (request, exchange)
        self.settings = settings
        self.sockets = sockets
        id = exchange.id
        (started, lastReceived, lastSent) = (now, now, now)
        parser = ResponseHeadParser(limit: settings.maximumHeadBytes)
        if case .none = request.body { isUploading = false } else { isUploading = true }
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        guard setOptions() else { return nil }
    }

    deinit {
        // The handle points to the list and to the text, so it goes first.
        handles.giveBack(easy, isSound: exchange.isComplete)
        curl_slist_free_all(list)
        errorText.deallocate()
    }

    /// Keeps the header lines for the life of the transfer; returns false if libcurl has no memory.
    func setLines(_ lines: [[UInt8]]) -> Bool {
        for line in lines {
            let longer = line.withUnsafeBytes { curl_slist_append(list, $0.bindMemory(to: CChar.self).baseAddress) }
            guard let longer else { return false }
            list = longer
        }
        return rind_easy_set_list(easy, CURLOPT_HTTPHEADER, list) == CURLE_OK
    }

    /// Records that the connection is ready and that the request is about to be sent.
    ///
    /// Returns false if a kept connection must not be used: bytes have come behind the answer to the request before, or
    /// its end. libcurl before 8 sends the request anyway, and takes those bytes for the answer (RFC 9112, 9.2 and 11.2).
    /// Nor is a second one used: where one was dead, libcurl would try all that are kept, but a request is repeated only
    /// once (RFC 9110, 9.2.2).
    func connected(_ ends: ConnectionSockets.Ends) -> Bool {
        if rind_easy_connection_count(easy) > 0 {
            sockets.add(ends, openedAs: opened)
        } else if isSent || sockets.hasUnaskedBytes(ends) {
            isStale = true
            return false
        }
        (isStale, isSent) = (false, true)
        if request.mayBeRefusedEarly { uploadSocket = sockets.kept(ends) }
        phase = .waiting
        lastSent = .now()
        return true
    }

    /// Notes a socket that libcurl has opened for this transfer.
    func open(_ socket: Int32) { opened.append(socket) }

    /// Receives one header line; a result of 0 stops the transfer.
    func receive(line: UnsafeRawBufferPointer) -> Int {
        phase = .receiving
        lastReceived = .now()
        switch parser.add(line) {
        case .more: return line.count
        case .failure(let error):
            failure = error
            return 0
        case .head(let head):
            hasHead = true
            if !head.mayKeepConnection || head.mayHideBody(answering: request.method) {
                rind_easy_set_long(easy, CURLOPT_FORBID_REUSE, 1)
            }
            // libcurl sends no more after such an answer, so the writer need not go on.
            if head.status.code >= 300 { closeUpload() }
            undelivered = head
            return line.count
        }
    }

    /// Receives bytes of the body, or tells libcurl to keep them and to stop reading from the network.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastReceived = .now()
        guard demand == .open else {
            demand = .paused
            // Nothing was taken: libcurl delivers the same bytes again.
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        guard received.hasRoom(for: bytes.count) || flush() else { return 0 }
        received.append(bytes)
        return bytes.count
    }

    /// Passes all received bytes to the reader, then the head; returns false if there is no reader any more.
    @discardableResult
    func flush() -> Bool {
        defer { deliverHead() }
        guard let chunk = received.take() else { return true }
        switch exchange.yield(chunk) {
        case .produceMore: return true
        case .stopProducing:
            if demand == .open { demand = .closed }
            return true
        case .dropped:
            failure = .cancelled
            return false
        }
    }

    private func deliverHead() {
        if let head = undelivered.take() { exchange.resolve(.success(head)) }
    }

    /// Continues, because the reader wants more bytes.
    func resume() {
        let wasPaused = demand == .paused
        demand = .open
        lastReceived = .now()
        if wasPaused { setPauses() }
    }

    /// Gives libcurl bytes of the request's body.
    func send(into target: UnsafeMutableRawBufferPointer) -> Int {
        lastSent = .now()
        switch request.body {
        case .none:
            isUploading = false
            return 0
        case .bytes(let bytes):
            let rest = bytes.readableBytesView.dropFirst(sentBytes).prefix(target.count)
            target.copyBytes(from: rest)
            sentBytes += rest.count
            isUploading = sentBytes < bytes.readableBytes
            return rest.count
        case .channel(let channel, _):
            switch channel.read(into: target) {
            case .bytes(let count): return count
            case .end:
                isUploading = false
                return 0
            case .pause:
                isUploadPaused = true
                return Int(CURL_READFUNC_PAUSE)
            }
        }
    }

    /// Begins the request's body again, on a new connection; returns false if its bytes are gone.
    func rewind(to offset: Int) -> Bool {
        guard case .bytes(let bytes) = request.body, (0...bytes.readableBytes).contains(offset) else { return false }
        sentBytes = offset
        isUploading = true
        return true
    }

    /// Takes the answer that has come although the request could not be sent to its end; false if none has.
    func takeEarlyAnswer(after code: CURLcode) -> Bool {
        guard code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR, phase == .waiting, failure == nil,
            let answer = uploadSocket?.answer(to: request.method, headLimit: settings.maximumHeadBytes)
        else { return false }
        return answer.lines.allSatisfy { $0.withUnsafeBytes { receive(line: $0) } > 0 }
            && (answer.body.isEmpty || answer.body.withUnsafeBytes { receive($0) } == answer.body.count)
    }

    /// Prepares an exchange for one repetition on a new connection, if only kept connections have failed.
    ///
    /// Nothing was sent on a stale one, so any request is repeated then.
    ///
    /// libcurl repeats a request itself if a kept connection dies before the first byte of the answer, but not if that
    /// shows while the body is being sent (curl/curl#4246), and on the next kept connection, which ``connected(_:)``
    /// refuses. Returns false if the request may not arrive twice, if its bytes are gone, or if a new connection has
    /// failed.
    func beginAgain(after code: CURLcode) -> Bool {
        let isUnsent = code == CURLE_ABORTED_BY_CALLBACK && isStale
        guard isUnsent || code == CURLE_SEND_ERROR && request.isIdempotent, !isRepeated, phase != .receiving,
            failure == nil, rind_easy_connection_count(easy) == 0,
            rind_easy_set_long(easy, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK
        else { return false }
        switch request.body {
        case .none: break
        case .bytes: guard rewind(to: 0) else { return false }
        case .channel: guard isUnsent else { return false }
        }
        isRepeated = true
        phase = .connecting
        errorText.update(repeating: 0, count: Int(CURL_ERROR_SIZE))
        return true
    }

    /// Continues the upload, because there are bytes to send.
    func resumeUpload() {
        guard isUploadPaused else { return }
        isUploadPaused = false
        lastSent = .now()
        setPauses()
    }

    /// Resumes a paused upload that has ended: libcurl does not end a transfer with one side paused.
    func releaseUpload() {
        if !isUploading { resumeUpload() }
    }

    /// Refuses the rest of the request's body.
    func closeUpload() {
        isUploading = false
        if case .channel(let channel, _) = request.body { channel.close() }
    }

    /// Passes on the remaining bytes, and ends the exchange.
    func finish(_ error: CurlError?) {
        // If the answer is complete, the exchange ends before the reader gets the head, so that it wakes up once. If it
        // is not, the reader gets the head first; otherwise it would take the error for the answer.
        let head = error == nil ? undelivered.take() : nil
        flush()
        closeUpload()
        exchange.finish(error == nil && !hasHead ? .closed("the connection ended inside the head") : error)
        if let head { exchange.resolve(.success(head)) }
    }

    private func setPauses() {
        // This may call the callbacks again before it returns.
        let receiving = demand == .paused ? CURLPAUSE_RECV : 0
        curl_easy_pause(easy, receiving | (isUploadPaused ? CURLPAUSE_SEND : 0))
    }
}
