// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import NIOConcurrencyHelpers
import NIOCore
import Threads

/// Runs libcurl on its only thread, and passes requests to it.
///
/// All transfers share its connections, its addresses and its TLS sessions. It never blocks a task: the task that
/// executes a request is suspended, and bodies arrive as fast as they are read. libcurl's `curl_multi_poll` looks at
/// every transfer whenever one moves, which is good for some hundreds at a time.
package final class CurlReactor: HTTPTransport {
    /// The settings for all transfers.
    package struct Settings: Hashable, Sendable {
        /// A file of trusted certificates (PEM) instead of the system's.
        package var caFile: String?
        /// A file of the certificate for servers that ask for one (PEM), with its chain; nil for none.
        package var clientCertificate: String?
        /// A file of its private key (PEM); nil if that is in the certificate's file.
        package var clientKey: String?
        /// The most connections at a time; a transfer waits for a free one, which counts as connecting.
        package var maximumConnections = 512
        /// The number of connections that are kept for the next request.
        package var maximumIdleConnections = 32
        /// The time for which an unused connection is kept; Node.js closes it after 5 s, so longer gains little.
        package var idleConnectionAge = Duration.seconds(20)
        /// The most bytes of an answer's head, interim heads and trailers included.
        package var maximumHeadBytes = 64 * 1024

        /// Creates the usual settings.
        package init() {}

        var idleConnectionAgeInSeconds: Int { max(1, Int(clamping: idleConnectionAge.components.seconds)) }
    }

    private let mailbox: Mailbox
    private let thread: DedicatedThread

    private init(mailbox: Mailbox, thread: DedicatedThread) {
        self.mailbox = mailbox
        self.thread = thread
    }

    /// Starts the thread.
    ///
    /// - Throws: ``CurlError/system(_:)`` if libcurl or the system has no memory or no thread for it.
    package static func start(_ settings: Settings = Settings()) throws(CurlError) -> CurlReactor {
        guard isLibraryReady, let raw = curl_multi_init() else { throw .system("libcurl could not be started") }
        let multi = MultiHandle(raw: raw)
        rind_multi_set_long(raw, CURLMOPT_MAX_TOTAL_CONNECTIONS, settings.maximumConnections)
        rind_multi_set_long(raw, CURLMOPT_MAXCONNECTS, max(1, settings.maximumIdleConnections))
        let mailbox = Mailbox(multi: multi)
        let thread = DedicatedThread.start {
            ReactorLoop(multi: multi, mailbox: mailbox, settings: settings).run()
        }
        guard let thread else {
            _ = mailbox.close()
            curl_multi_cleanup(raw)
            throw .system("no thread could be started")
        }
        return CurlReactor(mailbox: mailbox, thread: thread)
    }

    deinit {
        // An owner that forgets the shutdown leaves no thread behind; after a shutdown this does nothing.
        mailbox.post(.stop)
        thread.detach()
    }

    /// Ends all transfers with ``CurlError/shutDown``, and returns when the thread has ended.
    ///
    /// Let tasks that still need their answers finish first. Calling it again is harmless.
    package func shutdown() async {
        mailbox.post(.stop)
        await thread.join()
    }

    /// Sends `request`, and returns when the head of the answer has come and a streamed body has been sent.
    ///
    /// An answer of 300 or more ends the sending of a body. Cancelling the task ends the exchange. A server that
    /// answers while it reads may stop reading until its answer is read: use ``perform(_:_:)`` for streamed bodies.
    ///
    /// - Returns: The answer, whatever its status; its body is read from the network on demand.
    /// - Throws: ``CurlError``; errors after the head are thrown by the body's iterator.
    package func execute(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
        let started = try start(request)
        let head = await withTaskCancellationHandler {
            guard let upload = started.upload else { return await started.exchange.head() }
            return await withTaskGroup(of: Void.self) { group in
                group.addTask { await upload.run() }
                let head = await started.exchange.head()
                // A producer that waits for bytes that the server no longer takes would hold back the answer.
                if upload.channel.isClosed { group.cancelAll() }
                if case .failure = head { group.cancelAll() }
                await group.waitForAll()
                return head
            }
        } onCancel: {
            started.cancel(mailbox)
        }
        return started.response(try head.get(), mailbox)
    }

    /// Sends `request`, and passes the answer to `use` when its head has come, while a streamed body is still being
    /// sent.
    ///
    /// An answer of 300 or more ends the sending before `use` is called. The end of `use` always ends the sending, and
    /// also the exchange if `use` has not read the whole body.
    ///
    /// - Returns: The result of `use`.
    /// - Throws: ``CurlError``, or the error of `use`. If the source of the request's body throws after the head has
    ///   come, the iterator of the answer's body throws that error, as ``CurlError/upload(_:)``.
    package func perform<Result>(
        _ request: CurlRequest, _ use: (CurlResponse) async throws -> Result
    ) async throws -> Result {
        let started = try start(request)
        return try await withTaskCancellationHandler {
            guard let upload = started.upload else {
                return try await use(started.response(try await started.exchange.head().get(), mailbox))
            }
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await upload.run() }
                defer { group.cancelAll() }
                let head = try await started.exchange.head().get()
                if upload.channel.isClosed {
                    group.cancelAll()
                    try await group.waitForAll()
                }
                return try await use(started.response(head, mailbox))
            }
        } onCancel: {
            started.cancel(mailbox)
        }
    }

    /// Passes the request to the thread.
    private func start(_ request: CurlRequest) throws(CurlError) -> StartedExchange {
        var prepared = try PreparedRequest(request)
        guard !Task.isCancelled else { throw .cancelled }
        let id = mailbox.makeTransferID()
        let completeness = NIOLockedValueBox(false)
        let new = BodyProducer.makeSequence(
            backPressureStrategy: .init(lowWatermark: 2, highWatermark: 6), finishOnDeinit: true,
            delegate: BodyDelegate(mailbox: mailbox, transfer: id, completeness: completeness))
        let exchange = Exchange(id: id, source: new.source, completeness: completeness)
        var upload: StartedExchange.Upload?
        if case .stream(let length, let produce) = request.body {
            let channel = UploadChannel(transfer: id, length: length, mailbox: mailbox)
            prepared.body = .channel(channel, length: length)
            upload = StartedExchange.Upload(channel: channel, produce: produce)
        }
        // Posted before a cancellation handler is set, so that a cancellation always comes after it.
        if !mailbox.post(.start(prepared, exchange)) { exchange.finish(.shutDown) }
        return StartedExchange(exchange: exchange, body: new.sequence, upload: upload)
    }

    /// The result of libcurl's own start, once for the process and before any of its threads uses libcurl.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
